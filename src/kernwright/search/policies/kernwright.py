"""The default: the best while it rises; knobs, islands, the front and other structures once it does not."""

import random
from collections.abc import Sequence

from kernwright.core.brief import Pick
from kernwright.core.node import Node
from kernwright.core.ports import GraphView

from .bounds import Count, Few, Number, Share
from .eoh import rank_weights
from .moves import begun, child, distinct, drawn, either, founding, remaining, tuning, winners, worst_first
from .stagnation import away

FRONT = 32
"""Of the best overall, among whom each workload's best is looked for."""


class Kernwright:
    """Nodes lie on islands, the first few of which run without memory; parents are shared as long as that helps."""

    name = "kernwright"

    def __init__(
        self,
        *,
        starts: Count = 4,
        islands: Few = 3,
        plain: Number = 2,
        population: Count = 4,
        best: Share = 0.7,
        combine: Share = 0.05,
        front: Share = 0.5,
        calm: Count = 8,
        tuned: Count = 8,
        patience: Count = 12,
        share: Share = 0.4,
    ) -> None:
        """`plain` islands have no memory.

        A parent is the best of all, after `calm` proposals without a better score only for the share `best`; of the
        others, the share `front` comes from the front over workloads and the rest from the child's island. `combine` is
        the share of children with two parents. After `tuned` such proposals the best has its knobs tuned, after
        `patience` the share `share` of the picks changes the structure.
        """
        self._starts = starts
        self._islands = max(1, islands)
        self._plain = plain
        self._population = population
        self._best = best
        self._combine = combine
        self._front = front
        self._calm = calm
        self._tuned = tuned
        self._patience = patience
        self._share = share

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """Starts on all islands, then one of the four moves."""
        if starts := self._opening(view) or founding(view, n, 1):
            return starts
        best = view.best()
        if best and view.stale >= self._tuned and (tune := tuning(view, best)):
            return (tune,)
        island = rng.randrange(self._islands)
        pick = None
        if view.stale >= self._patience and rng.random() < self._share:
            pick = away(view, distinct(view, 2 * self._population), rng, island)
        if pick is None:
            pair = rng.random() < self._combine
            parents = self._parents(view, island, rng)
            pick = child(view, worst_first(parents) if pair else parents[:1], island=island, intents=either(pair))
        if pick is None:
            return remaining(view) or self._last(view, best)
        memory = island >= self._plain
        return (Pick(parents=pick.parents, intent=pick.intent, island=island, variant=pick.variant, memory=memory),)

    def _opening(self, view: GraphView) -> Sequence[Pick]:
        wanted = max(self._starts, len(view.start))
        if "start" in view.exhausted or (there := begun(view, wanted)) >= wanted:
            return ()
        island = there % self._islands
        return (Pick(island=island, memory=island >= self._plain),)

    def _last(self, view: GraphView, best: Node | None) -> Sequence[Pick]:
        """Where only knobs are left: those of the best, once it is known which that is."""
        tune = tuning(view, best) if best and not view.in_flight() else None
        return (tune,) if tune else ()

    def _parents(self, view: GraphView, island: int, rng: random.Random) -> list[Node]:
        """Whom to work on; behind it another one, to be joined with it."""
        everywhere = distinct(view, self._population)
        if not everywhere:
            return []
        first = everywhere[0]
        if view.stale >= self._calm and rng.random() >= self._best:
            counts = winners(view.ranked(FRONT)) if rng.random() < self._front else {}
            home = distinct(view, self._population, island) or everywhere
            pool = [view.nodes[id] for id in counts] or home
            [first] = drawn(rng, pool, list(counts.values()) or rank_weights(len(pool)), 1)
        others = [node for node in everywhere if node is not first]
        return [first, *drawn(rng, others, rank_weights(len(others)), 1)]
