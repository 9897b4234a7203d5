"""An archive with the best of each kind, where the kind is what the compiler and the clock say (MAP-Elites)."""

import random
from collections.abc import Sequence

from kernwright.core.brief import Pick
from kernwright.core.node import Node
from kernwright.core.outcome import timings_of
from kernwright.core.ports import GraphView

from .bounds import Count, Share
from .moves import child, either, founding, opening, remaining, tuning, worst_first

LOOKED_AT = 128
"""Of the best, from whom the cells are filled."""
COPY = 2.0
"""Within this factor of a plain copy of its bytes, a kernel is bound by memory."""
LAUNCH_NS = 10_000.0
"""What takes less is mostly launching."""

Cell = tuple[str | int, ...]


def bottleneck(node: Node) -> str:
    """What holds the node back on its heaviest workload: `memory`, `launch`, `compute`, or `unknown`."""
    timings = timings_of(node.evaluation.outcome) if node.evaluation else None
    if timings is None or not timings.workloads:
        return "unknown"
    heaviest = max(timings.workloads, key=lambda each: each.weight)
    time_ns = heaviest.time_ns.get("candidate")
    if time_ns is None:
        return "unknown"
    if time_ns < LAUNCH_NS:
        return "launch"
    return "memory" if heaviest.copy_ns and time_ns <= COPY * heaviest.copy_ns else "compute"


def cell(node: Node, axes: Sequence[str]) -> Cell:
    """The bottleneck, and each resource by its power of two; -1 for one that the build does not tell."""
    resources = node.evaluation.resources if node.evaluation else {}
    return (bottleneck(node), *(int(resources[axis]).bit_length() if axis in resources else -1 for axis in axes))


class MapElites:
    """Parents are drawn evenly from the cells, whatever their elites are worth."""

    name = "map_elites"

    def __init__(
        self,
        *,
        starts: Count = 5,
        combine: Share = 0.3,
        axes: str = "registers shared_bytes spill_bytes library_bytes",
    ) -> None:
        """`axes` are names of resources, with spaces between; how a file is spelt is none of them."""
        self._starts = starts
        self._combine = combine
        self._axes = axes.split()

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """Starts first; then children of one cell's elite, or of two."""
        if starts := opening(view, n, self._starts) or founding(view, n, 1):
            return starts
        elites = self.elites(view)
        if not elites:
            return remaining(view)
        if tune := tuning(view, elites[0]):
            return (tune,)
        pair = rng.random() < self._combine
        parents = rng.sample(elites, min(2, len(elites)))
        pick = child(view, worst_first(parents) if pair else parents, intents=either(pair))
        return (pick,) if pick else remaining(view)

    def elites(self, view: GraphView) -> list[Node]:
        """The best of each cell, best first."""
        found: dict[Cell, Node] = {}
        for node in view.ranked(LOOKED_AT):
            found.setdefault(cell(node, self._axes), node)
        return list(found.values())
