"""A small population of the best, from which parents are drawn by rank."""

import random
from collections.abc import Sequence

from kernwright.core.brief import Pick
from kernwright.core.graph import Node
from kernwright.core.ports import GraphView

from .moves import begun, repairing, tuning


class Elite:
    """The `n` best distinct candidates; parents are the better of `tournament` drawn ones."""

    name = "elite"

    def __init__(self, *, n: int = 5, combine: float = 0.3, tournament: int = 2) -> None:
        """`combine` is the share of children with two parents."""
        self._n = n
        self._combine = combine
        self._tournament = tournament

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """Starts until the population has its size, then children of it."""
        wanted = max(self._n, len(view.start))
        left = 0 if "start" in view.exhausted else min(n, wanted - begun(view, wanted))
        if left > 0:
            return (Pick(),) * left
        population = self._population(view)
        if population:
            for node in population:
                if tune := tuning(view, node):
                    return (tune,)
            children = [child for _ in range(n) if (child := self._child(view, population, rng))]
            if children:
                return children
        if view.in_flight():
            return ()
        if "start" not in view.exhausted:
            return (Pick(),)
        return () if population else tuple(filter(None, (repairing(view),)))

    def _population(self, view: GraphView) -> list[Node]:
        distinct: dict[str | None, Node] = {}
        for node in view.ranked(4 * self._n):
            distinct.setdefault(node.candidate, node)
        return list(distinct.values())[: self._n]

    def _child(self, view: GraphView, population: list[Node], rng: random.Random) -> Pick | None:
        # Drawn whatever comes of it, so that one choice does not depend on what is exhausted.
        pair = rng.random() < self._combine
        first = self._drawn(population, rng)
        second = self._drawn([node for node in population if node is not first] or population, rng)
        if "combine" not in view.exhausted and len(population) > 1 and (pair or "improve" in view.exhausted):
            return Pick(parents=(first.id, second.id), intent="combine")
        return None if "improve" in view.exhausted else Pick(parents=(first.id,), intent="improve")

    def _drawn(self, population: list[Node], rng: random.Random) -> Node:
        return population[min(rng.randrange(len(population)) for _ in range(self._tournament))]
