"""One policy while the score rises, a change of structure while it does not."""

import random
from collections.abc import Sequence

from kernwright.core.brief import Pick
from kernwright.core.node import Node
from kernwright.core.ports import GraphView, Policy
from kernwright.core.registry import reference
from kernwright.core.resolve import resolve

from .bounds import Count, Share
from .moves import child, distinct, founding, worst_first

RESTRUCTURE = "restructure"
"""The variant of a prompt that asks for another structure, not for a better setting of this one."""


class Stagnation:
    """After `patience` evaluated proposals without a better score, a share of the picks leaves the beaten track."""

    name = "stagnation"

    def __init__(self, *, calm: str = "elite", patience: Count = 8, share: Share = 0.5, population: Count = 8) -> None:
        """`calm` is the policy while all goes well, with its own defaults."""
        from . import TABLE

        self._calm: Policy = resolve(reference("policies", TABLE, calm))()
        self._patience = patience
        self._share = share
        self._population = population

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """As the calm policy does, or something else."""
        if view.stale >= self._patience and rng.random() < self._share:
            if pick := away(view, distinct(view, self._population), rng):
                return (pick,)
            if starts := founding(view, n, 1):
                return starts
        return self._calm.pick(view, n, rng)


def away(view: GraphView, population: Sequence[Node], rng: random.Random, island: int | None = None) -> Pick | None:
    """A fresh start, the best joined with one of another origin, or the best rebuilt; None without any."""
    if not population:
        return None
    best = population[0]
    strangers = [node for node in population[1:] if root(view, node) != root(view, best)]
    move = rng.randrange(3)
    if move == 0 and "start" not in view.exhausted:
        return Pick(island=island, variant=RESTRUCTURE)
    if move == 1 and strangers:
        pair = worst_first([best, rng.choice(strangers)])
        if pick := child(view, pair, island=island, variant=RESTRUCTURE):
            return pick
    return child(view, [best], island=island, variant=RESTRUCTURE, intents=("improve", "combine"))


def root(view: GraphView, node: Node, steps: int = 64) -> int:
    """The first ancestor by first parents, or the one so many steps back."""
    while node.pick.parents and steps > 0:
        node, steps = view.nodes[node.pick.parents[0]], steps - 1
    return node.id
