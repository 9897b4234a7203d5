"""A population that ages, with crossover and mutation (KernelEvolve)."""

import random
from collections.abc import Sequence
from itertools import islice

from kernwright.core.brief import Pick
from kernwright.core.node import Node
from kernwright.core.ports import GraphView

from .bounds import Count, Share
from .moves import child, distinct, founding, merit, opening, remaining, worst_first


class Evolution:
    """The best of the newest, and the best of all; parents by tournament."""

    name = "evolution"

    def __init__(
        self,
        *,
        drafts: Count = 10,
        population: Count = 5,
        window: Count = 4,
        crossover: Share = 0.5,
        tournament: Count = 2,
    ) -> None:
        """Who is older than `window` populations of measured nodes has died; `crossover` is a share of the children."""
        self._drafts = drafts
        self._population = population
        self._window = window
        self._crossover = crossover
        self._tournament = tournament

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """Drafts first."""
        if starts := opening(view, n, self._drafts) or founding(view, n, 1):
            return starts
        alive = self.alive(view)
        if not alive:
            return remaining(view)
        crossing = rng.random() < self._crossover
        first = self._winner(alive, rng)
        second = self._winner([node for node in alive if node is not first] or alive, rng)
        pair = worst_first([first, second]) if second is not first else [first]
        picked = child(view, pair if crossing else [first], intents=("combine", "improve"))
        picked = picked or child(view, pair, intents=("improve", "combine"))
        return (picked,) if picked else remaining(view)

    def alive(self, view: GraphView) -> list[Node]:
        """The population, best first."""
        size = self._population
        measured = (node for node in islice(reversed(view.nodes), 8 * size * self._window) if node.merit is not None)
        pool = [*distinct(view, 1), *islice(measured, size * self._window)]
        found: dict[str | None, Node] = {}
        for node in sorted(pool, key=lambda node: (-merit(node), node.id)):
            found.setdefault(node.candidate, node)
        return list(found.values())[:size]

    def _winner(self, alive: list[Node], rng: random.Random) -> Node:
        return alive[min(rng.randrange(len(alive)) for _ in range(self._tournament))]
