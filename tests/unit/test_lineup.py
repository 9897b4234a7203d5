"""What Inductor finds out of the processor by compiling is found out once, not for every problem."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

from test_room import RIGHT, SOURCE, job

from kernwright.evaluation.lineup import Lineup

FOUND = "artifacts/inductor/ab/cabd.so"


class Shop:
    """A workshop whose runners compile what their first file says, and do nothing else."""

    machine = "a machine"

    def __init__(self, folder: Path, isolation: str = "namespaces", device: str = "cpu") -> None:
        self.isolation = isolation
        self.session = SimpleNamespace(device=device, memory_bytes=None, shared=nullcontext)
        self.begun: list[tuple[list[str], bool]] = []
        self.loaded: list[str] = []
        self._folder = folder

    @contextmanager
    def runner(
        self, name: str, files: tuple[Any, ...], plan: object, *, built: Path | None, precision: str
    ) -> Iterator[Any]:
        names = [file.name for file in files]
        self.begun.append((names, built is not None and (built / FOUND).exists()))
        scratch = self._folder / str(len(self.begun))
        (scratch / FOUND).parent.mkdir(parents=True)
        if names[0] == "probe.py":
            (scratch / FOUND).write_text("")
        yield SimpleNamespace(scratch=scratch, load=self.loaded.append, freeze=lambda: None, close=lambda: None)


def warmed(shop: Shop, home: Path, source: str) -> None:
    asked = job(RIGHT, source)
    compiled = replace(asked, home=str(home), plan=replace(asked.plan, baselines=("compile",)))
    lineup = Lineup(shop, compiled)  # type: ignore[arg-type]
    assert len(lineup.warm([])) == 1
    lineup.close()


def test_the_processor_is_looked_at_for_the_first_problem_of_a_home(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    for source in (SOURCE, SOURCE + "\n"):
        warmed(shop, tmp_path / "home", source)
    assert shop.begun == [(["probe.py", "problem.py"], False), (["problem.py"], True)]
    assert shop.loaded == ["problem.py"]
    warmed(shop, tmp_path / "another", SOURCE)
    assert shop.begun[-1] == (["probe.py", "problem.py"], False)


@pytest.mark.parametrize(("isolation", "device"), [("landlock", "cpu"), ("namespaces", "another")])
def test_it_is_not_where_that_would_not_help(tmp_path: Path, isolation: str, device: str) -> None:
    shop = Shop(tmp_path, isolation, device)
    warmed(shop, tmp_path / "home", SOURCE)
    assert shop.begun == [(["problem.py"], False)]
    assert not (tmp_path / "home" / "cache" / "probed").exists()
