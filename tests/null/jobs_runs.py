"""Runs that are judged elsewhere, and the way there and back, with an evaluator that judges nothing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine_runs import PROBLEM, spec

from kernwright.core.brief import Intent
from kernwright.core.spec import OperatorSpec
from kernwright.engine import service
from kernwright.engine.jobs.exporting import Exported, export
from kernwright.engine.jobs.importing import Imported, bring
from kernwright.engine.jobs.running import Means, Summary
from kernwright.engine.jobs.running import run as work
from kernwright.platforms.cpu import Cpu
from kernwright.testing.null import EXECUTED
from kernwright.testing.scripted import Scripted
from kernwright.testing.scripted import scripted as candidate

TARGET = Cpu().targets()[0]
MAILBOX = OperatorSpec(name="mailbox", settings={"starts": 8})
KINDS = ("judge", "seeds", "tune")
"""Those that need no torch."""


class Far(Scripted):
    """A scripted operator that works only where the target is."""

    name = "far"
    intents: frozenset[Intent] = frozenset({"start"})
    at_target = True


def far(*lines: str) -> OperatorSpec:
    """The same with these lines."""
    return OperatorSpec(name="jobs_runs:Far", settings={"script": "\n".join(lines)})


@dataclass
class Trip:
    """One run at home and a machine elsewhere."""

    root: Path
    run: str = ""

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def away(self) -> Path:
        return self.root / "away"

    @property
    def jobs(self) -> Path:
        return self.root / "jobs"

    @property
    def results(self) -> Path:
        return self.root / "results"

    def begin(self, *operators: OperatorSpec, **changes: Any) -> str:
        """A run at home that is judged elsewhere."""
        settings = {"executor": "jobs", "target": TARGET, **changes}
        self.run = service.create(self.home, spec(*(operators or (MAILBOX,)), **settings), PROBLEM)
        self.away.mkdir(exist_ok=True)
        (self.away / EXECUTED).touch()
        return self.run

    def tell(self, *texts: str) -> list[int]:
        """Answer a brief with each of these; the nodes."""
        nodes = []
        for text in texts:
            nodes.append(service.ask(self.home, self.run).node)
            assert service.tell(self.home, self.run, nodes[-1], candidate(text)) is None
        return nodes

    def export(self, *only: str, tune: tuple[int, ...] = ()) -> Exported:
        return export(self.home, self.run, self.jobs, only=only or KINDS, tune=tune)

    def work(self, limit_s: float | None = None, **means: Any) -> Summary:
        plain: dict[str, Any] = {"home": self.away, "limit_s": limit_s, "executor": "inline"}
        return work(self.jobs, self.results, Means(**plain | means), lambda text: None)

    def bring(self) -> Imported:
        return bring(self.home, self.run, self.results)

    def round(self) -> Imported:
        """There and back."""
        self.export()
        self.work()
        return self.bring()

    def executed(self) -> list[str]:
        """Keys of the evaluations that were carried out elsewhere."""
        return (self.away / EXECUTED).read_text().splitlines()
