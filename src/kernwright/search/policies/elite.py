"""A small population of the best, from which parents are drawn by rank (EvoEngineer Full)."""

import random
from collections.abc import Sequence

from kernwright.core.brief import Pick
from kernwright.core.node import Node
from kernwright.core.ports import GraphView

from .bounds import Count, Share
from .moves import child, distinct, either, founding, opening, remaining, tuning


class Elite:
    """The `n` best distinct candidates; parents are the better of `tournament` drawn ones."""

    name = "elite"

    def __init__(
        self, *, n: Count = 5, combine: Share = 0.3, tournament: Count = 2, valid: Count | None = None
    ) -> None:
        """`combine` is the share of children with two parents.

        It evolves once `valid` candidates are measured; where None, once `n` were begun.
        """
        self._n = n
        self._combine = combine
        self._tournament = tournament
        self._valid = valid

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """Starts until the population has its size, then children of it."""
        starts = opening(view, n, self._n) if self._valid is None else founding(view, n, self._valid)
        if starts:
            return starts
        population = distinct(view, self._n)
        for node in population:
            if tune := tuning(view, node):
                return (tune,)
        children = [each for _ in range(n) if (each := self._child(view, population, rng))]
        return children or remaining(view)

    def _child(self, view: GraphView, population: list[Node], rng: random.Random) -> Pick | None:
        if not population:
            return None
        # Drawn whatever comes of it, so that one choice does not depend on what is exhausted.
        pair = rng.random() < self._combine
        first = self._drawn(population, rng)
        second = self._drawn([node for node in population if node is not first] or population, rng)
        both = [second, first] if second is not first else [first]
        return child(view, both, intents=either(pair))

    def _drawn(self, population: list[Node], rng: random.Random) -> Node:
        return population[min(rng.randrange(len(population)) for _ in range(self._tournament))]
