"""Evolution of heuristics: rank selection and five kinds of children in turn (EoH)."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from kernwright.core.brief import Intent, Pick
from kernwright.core.node import Node
from kernwright.core.ports import GraphView

from .bounds import Count
from .moves import begun, child, drawn, founding, merit, opening, remaining


class Kind(NamedTuple):
    """One of EoH's operators."""

    variant: str
    intents: tuple[Intent, ...]


KINDS = (
    Kind("e1", ("combine",)),
    Kind("e2", ("combine",)),
    Kind("m1", ("improve",)),
    Kind("m2", ("improve",)),
    Kind("m3", ("simplify", "improve")),
)
"""Unlike all parents; from their common idea; modified; other parameters; simpler."""
EQUAL = 6
"""Digits of a score in which two have to agree to be one."""


def rank_weights(n: int) -> list[float]:
    """Selection of rank r (best: 0) among n: proportional to 1 / (r + 1 + n)."""
    return [1.0 / (rank + 1 + n) for rank in range(n)]


class EoH:
    """The n best of different score; each kind of child in turn."""

    name = "eoh"

    def __init__(self, *, n: Count = 5, parents: Count = 2, starts: Count = 5, simplify: bool = False) -> None:
        """`parents` is how many `e1` and `e2` get; `simplify` turns `m3` on."""
        self._n = n
        self._parents = parents
        self._starts = starts
        self._kinds = KINDS if simplify else KINDS[:-1]

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """Starts until there are enough of them and one is measured; then children."""
        if starts := opening(view, n, self._starts) or founding(view, n, 1):
            return starts
        population = self._population(view)
        # The turn follows from what was opened, so that each kind gets its share without a counter.
        turn = len(view.nodes) - begun(view, self._starts)
        for kind in (self._kinds[(turn + skip) % len(self._kinds)] for skip in range(len(self._kinds))):
            many = self._parents if kind.intents == ("combine",) else 1
            parents = drawn(rng, population, rank_weights(len(population)), many)
            if pick := child(view, parents, variant=kind.variant, intents=kind.intents):
                return (pick,)
        return remaining(view)

    def _population(self, view: GraphView) -> list[Node]:
        found: dict[float, Node] = {}
        for node in view.ranked(8 * self._n):
            found.setdefault(round(merit(node), EQUAL), node)
        return list(found.values())[: self._n]
