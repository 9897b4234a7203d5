"""Convert, translate, optimise, compose: stages one after the other."""

import random
from collections.abc import Sequence
from itertools import islice

from kernwright.core.brief import Exhausted, Pick
from kernwright.core.node import Node
from kernwright.core.ports import GraphView

from .bounds import Count
from .moves import child, distinct, failed, remaining, worst_first

EARLY = 512
"""Nodes from the first in which conversions and translations are looked for."""


class Stages:
    """Each pick's variant is its stage."""

    name = "stages"

    def __init__(
        self,
        *,
        attempts: Count = 10,
        generations: Count = 10,
        proposals: Count = 4,
        shown: Count = 5,
        pool: Count = 5,
    ) -> None:
        """Up to `attempts` at a conversion and at a translation; `generations` of `proposals` to optimise.

        `shown` kernels of the `pool` best are the parents of an optimisation, slow ones first.
        """
        self._attempts = attempts
        self._optimised = generations * proposals
        self._shown = shown
        self._pool = max(pool, shown)

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """The next of the first stage that is not done."""
        early = [node for node in islice(view.nodes, EARLY) if not isinstance(node.draft, Exhausted)]
        converted = [node for node in early if node.pick.variant == "convert"]
        translated = [node for node in early if node.pick.variant == "translate"]
        if self._unfinished(converted) and "start" not in view.exhausted:
            return () if _flying(converted) else (Pick(variant="convert"),)
        if self._unfinished(translated):
            if _flying(translated):
                return ()
            if pick := self._translation(view, converted, translated):
                return (pick,)
        population = distinct(view, self._pool)
        best = population[:1]
        shown = worst_first(best + rng.sample(population[1:], min(self._shown - 1, len(population[1:]))))
        optimised = (node for node in view.nodes if node.pick.variant == "optimise")
        if sum(1 for _ in islice(optimised, self._optimised)) < self._optimised:
            pick = child(view, shown, variant="optimise", intents=("improve", "combine"))
            if pick is not None:  # one kernel is worked on, the others stand beside it
                return (_with_parents(pick, shown),)
        pick = child(view, shown, variant="compose", intents=("combine", "improve"))
        return (pick,) if pick else remaining(view)

    def _unfinished(self, stage: list[Node]) -> bool:
        return len(stage) < self._attempts and not any(node.merit is not None for node in stage)

    def _translation(self, view: GraphView, converted: list[Node], translated: list[Node]) -> Pick | None:
        """From the conversion; a failed translation goes back with its error where that can be repaired."""
        if translated and failed(translated[-1]) and "repair" not in view.exhausted:
            return Pick(parents=(translated[-1].id,), intent="repair", variant="translate")
        source = [node for node in converted if node.merit is not None] or [
            n for n in converted if n.candidate and not n.in_flight
        ]
        if pick := child(view, source[-1:], variant="translate", intents=("port",)):
            return pick
        return None if "start" in view.exhausted else Pick(variant="translate")


def _flying(stage: list[Node]) -> bool:
    return any(node.in_flight for node in stage)


def _with_parents(pick: Pick, shown: list[Node]) -> Pick:
    """The best first, since that is what an improvement is of; then slow to fast."""
    ids = tuple(node.id for node in shown)
    return Pick(parents=(ids[-1], *ids[:-1]), intent=pick.intent, variant=pick.variant)
