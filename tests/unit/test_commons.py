"""What is compiled once for all builds: nobody gets what another has made, or made to be made."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.commons import VARIABLE, found, place_of
from kernwright.core.outcome import Evaluation
from kernwright.core.plan import QUICK
from kernwright.engine import intake
from kernwright.engine.targets import target_of
from kernwright.evaluation.commons import MOST_TEXTS
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.participants import workshop
from kernwright.evaluation.participants.launch import Launcher
from kernwright.problems.file import problem_in

PROBLEM = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1

def get_inputs():
    return [torch.rand(8)]

def get_init_inputs():
    return []
"""
Build = Callable[[str], Evaluation]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Build]:
    """Builds a text in the language of words, in one home."""
    monkeypatch.setattr(workshop, "Launcher", partial(Launcher, search=(Path(__file__).parent,)))
    judge = Judge(str(tmp_path))
    problem = problem_in(Path("plus_one.py"), PROBLEM)

    def built(text: str) -> Evaluation:
        kernel = f"# {text}\ndef kernel(x):\n    return x + 1\n"
        candidate = Candidate(language="words:Words", files=(SourceFile(name="kernel.py", text=kernel),))
        job = intake.job_of(problem, candidate, target_of("cpu"), QUICK, tmp_path)
        return judge.evaluate(replace(job, build_only=True, language="words:Words"))

    try:
        yield built
    finally:
        judge.close()


def test_what_a_build_leaves_is_compiled_alone_and_there_for_the_next(build: Build) -> None:
    first, second, other = build("honest # 1"), build("honest # 2"), build("another # 1")
    assert [each.outcome.kind for each in (first, second, other)] == ["built"] * 3, first.outcome
    assert [each.resources["found"] for each in (first, second, other)] == [0, 1, 0]
    assert second.resources["made_beside"] == 0, "no candidate's file lay where it was compiled"


def test_a_hostile_build_and_a_hostile_text_change_nothing_for_others(build: Build, tmp_path: Path) -> None:
    build("hostile # 1")
    assert build("hostile # 2").resources["wrote"] == 0
    assert build("honest # 1").resources["found"] == 0
    assert build("honest # 2").resources["made_beside"] == 0
    kept = [path.name for path in (tmp_path / "cache" / "common").glob("*/*")]
    assert place_of("hostile") in kept
    assert place_of("x" * 100_000) not in kept
    assert len(kept) <= 2 * MOST_TEXTS + 1


def test_what_cannot_be_compiled_is_no_failure_of_the_candidate(build: Build, tmp_path: Path) -> None:
    assert build("impossible # 1").outcome.kind == "built"
    (mark,) = (tmp_path / "cache" / "common").glob("*/*")
    before = mark.stat().st_mtime_ns
    assert build("impossible # 2").resources["found"] == 0
    assert mark.stat().st_mtime_ns == before, "it was not tried again"


def test_a_launcher_is_taken_where_it_was_compiled_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launchers: Any = pytest.importorskip("kernwright.languages.triton_launchers")
    asked: list[str] = []
    nvidia = SimpleNamespace(compile_module_from_src=lambda src, name, **about: asked.append(name))
    monkeypatch.setattr(launchers, "nvidia_driver", lambda: nvidia)
    there, artifacts = tmp_path / "common" / place_of("known") / "artifacts", tmp_path / "artifacts"
    (there / "triton" / "KEY").mkdir(parents=True)
    (there / "triton" / "KEY" / "launcher.so").write_text("its code")
    artifacts.mkdir()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "common"))
    with launchers.left_for_all(artifacts):
        for text in ("known", "new", "new"):
            nvidia.compile_module_from_src(src=text, name="__triton_launcher", libraries=[])
        nvidia.compile_module_from_src(src="utilities", name="cuda_utils")
    assert (artifacts / "triton" / "KEY" / "launcher.so").read_text() == "its code"
    assert [path.read_text() for path in (artifacts / "common").iterdir()] == ["new"]
    assert asked == ["__triton_launcher"] * 3 + ["cuda_utils"]
    assert found("new") is None
