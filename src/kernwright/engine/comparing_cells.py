"""One search of a comparison, and what came of it."""

from dataclasses import dataclass

from kernwright.core.brief import Exhausted, Proposed, Remarked
from kernwright.core.graph import Graph, speedup_of
from kernwright.core.node import Node
from kernwright.core.outcome import timings_of

MARKS = (1.2, 2.0)
"""Speedups of which it is counted how many proposals they took."""
RIGHT = frozenset({"checked", "measured", "verified"})
BROKEN = frozenset({"rejected", "build_failed"})
ON_CORES = frozenset({"inspect", "build"})
"""Stages that take no time of a device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A method on a problem under a seed."""

    method: str
    problem: str
    seed: int

    @property
    def key(self) -> str:
        """Its name in the ledger."""
        return f"{self.method} | {self.problem} | {self.seed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of one search."""

    method: str
    problem: str
    seed: int
    settings: str
    """Digest of everything that the search was given."""
    run: str = ""
    reason: str = ""
    """Why there is no result, where there is none."""
    proposals: int = 0
    evaluations: int = 0
    built: int = 0
    correct: int = 0
    verified: int = 0
    speedup: float | None = None
    """Of the champion over the faster baseline, verified."""
    speedup_start: float | None = None
    """Of the champion over the kernel that the search began with."""
    to_first: int | None = None
    """Proposals until 1.2x was measured."""
    to_second: int | None = None
    """Proposals until 2x was measured."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    usd: float = 0.0
    device_s: float = 0.0
    course: tuple[float, ...] = ()
    """The best speedup measured by then, after each proposal; 1 while there was none above."""

    @property
    def kept(self) -> float:
        """What the user gets: the baseline where nothing faster was verified."""
        return max(1.0, self.speedup or 1.0)


def row_of(cell: Cell, graph: Graph, settings: str, run: str = "", start: float | None = None) -> Row:
    """The row of a search that has ended; `start` is the speedup of what it began with, where that is known."""
    nodes = [
        node for node in graph.nodes if node.draft is not None and not isinstance(node.draft, Exhausted | Remarked)
    ]
    kinds = [node.evaluation.outcome.kind for node in nodes if node.evaluation]
    champion = graph.champion()
    best = speedup_of(champion) if champion else None
    if start is None:
        first = next((node for node in nodes if _begins(node) and speedup_of(node)), None)
        start = speedup_of(first) if first else None
    course = _course(nodes)
    first_mark, second_mark = (next((n for n, s in enumerate(course, 1) if s >= mark), None) for mark in MARKS)
    return Row(
        method=cell.method,
        problem=cell.problem,
        seed=cell.seed,
        settings=settings,
        run=run,
        proposals=graph.spent.proposals,
        evaluations=graph.spent.evaluations,
        built=sum(kind not in BROKEN for kind in kinds),
        correct=sum(kind in RIGHT for kind in kinds),
        verified=sum(kind == "verified" for kind in kinds),
        speedup=best,
        speedup_start=best / start if best and start else None,
        to_first=first_mark,
        to_second=second_mark,
        tokens_in=graph.spent.tokens_in,
        tokens_out=graph.spent.tokens_out,
        usd=graph.spent.usd,
        device_s=sum(
            seconds
            for event in graph.evaluations.values()
            for stage, seconds in event.evaluation.stage_s.items()
            if stage not in ON_CORES
        ),
        course=course,
    )


def _begins(node: Node) -> bool:
    """Whether a search's start is this: what the user gave, else what the compiler writes."""
    return isinstance(node.draft, Proposed) and node.draft.operator in ("given", "compiler")


def _course(nodes: list[Node]) -> tuple[float, ...]:
    best, course = 1.0, []
    for node in nodes:
        timings = timings_of(node.evaluation.outcome) if node.evaluation else None
        best = max(best, timings.speedup.estimate if timings else best)
        course.append(round(best, 4))
    return tuple(course)
