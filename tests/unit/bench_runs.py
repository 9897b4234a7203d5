"""Small checkouts in KernelBench's layout, and benches on them that judge nothing."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from kernwright.core.spec import RunSpec
from kernwright.engine import service
from kernwright.engine.bench import Bench, Follower, Item, bench, items_of
from kernwright.engine.bench_ledger import Settings
from kernwright.engine.bench_report import BenchReport, Row
from kernwright.engine.journal import Observe
from kernwright.testing.null import EXECUTED

PROBLEM = "class Model: pass\ndef get_inputs(): return []\n"
KERNEL = "\ndef kernel(x):\n    return x\n"


class Watched:
    """Remembers what it is told; `at` is called with each problem that ends."""

    def __init__(self, at: Callable[[str], None] | None = None, observe: Observe | None = None) -> None:
        self.begun: list[str] = []
        self.ends: list[str] = []
        self._at = at or (lambda key: None)
        self._observe = observe or (lambda entry, graph: None)

    def begins(self, number: int, total: int, key: str) -> None:
        self.begun.append(key)

    def looks(self) -> AbstractContextManager[Callable[[str], None]]:
        return nullcontext(lambda text: None)

    def follows(self, run: str) -> AbstractContextManager[Follower]:
        return nullcontext(Follower(self._observe, lambda text: None))

    def ended(self, row: Row, report: BenchReport) -> None:
        self.ends.append(row.problem)
        self._at(row.problem)


class Ground:
    """A home, a checkout of level 1 and a folder of candidates for it."""

    def __init__(self, folder: Path) -> None:
        self.home, self.out = folder / "home", folder / "out"
        self.checkout, self.candidates = folder / "checkout", folder / "candidates"
        for each in (self.checkout, self.candidates):
            (each / "level1").mkdir(parents=True)
        self.home.mkdir()
        (self.home / EXECUTED).touch()

    def problem(self, stem: str, candidate: str | None = "", text: str = PROBLEM) -> None:
        """A problem with what its candidate says, or with none."""
        (self.checkout / "level1" / f"{stem}.py").write_text(text)
        if candidate is not None:
            (self.candidates / "level1" / f"{stem}.py").write_text(candidate + KERNEL)

    @property
    def executed(self) -> int:
        """Evaluations that were carried out."""
        return len((self.home / EXECUTED).read_text().splitlines())

    def items(self) -> tuple[Item, ...]:
        return items_of("kernelbench", str(self.checkout), None, None, self.candidates)

    def bench(self, watch: Watched | None = None, *, rules: Any = None, **changes: Any) -> BenchReport:
        """All problems of the checkout; `changes` are fields of `Bench` or of `RunSpec`."""
        plain = {name: changes.pop(name) for name in ("name", "examine", "retry", "items") if name in changes}
        spec = RunSpec(
            target="cpu:null",
            operators=(service.GIVEN,),
            evaluator="kernwright.testing.null:NullEvaluator",
            executor="inline",
        )
        fields: dict[str, Any] = {"name": "test", "examine": False, "items": self.items()}
        settings = Settings(
            source="kernelbench",
            spec=RunSpec(**{f: getattr(spec, f) for f in RunSpec.__dataclass_fields__} | changes),
            rules=rules or {},
            given=True,
        )
        asked = Bench(home=self.home, out=self.out, settings=settings, **fields | plain)
        return bench(asked, watch or Watched())
