"""The front over workloads: whoever is the best on some, however it does on the others."""

import random
from collections.abc import Sequence

from kernwright.core.brief import Pick
from kernwright.core.ports import GraphView

from .bounds import Count, Share
from .moves import child, drawn, either, founding, opening, remaining, tuning, winners, worst_first

LOOKED_AT = 64
"""Of the best overall, among whom each workload's best is looked for."""


class Pareto:
    """Parents are drawn by the number of workloads on which they are the best."""

    name = "pareto"

    def __init__(self, *, starts: Count = 5, combine: Share = 0.3) -> None:
        """`combine` is the share of children that join two of the front."""
        self._starts = starts
        self._combine = combine

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """Starts first."""
        if starts := opening(view, n, self._starts) or founding(view, n, 1):
            return starts
        front = winners(view.ranked(LOOKED_AT))
        if not front:
            return remaining(view)
        best = view.best()
        if best is not None and (tune := tuning(view, best)):
            return (tune,)
        pair = rng.random() < self._combine
        parents = [view.nodes[id] for id in drawn(rng, list(front), list(front.values()), 2)]
        pick = child(view, worst_first(parents) if pair else parents[:1], intents=either(pair))
        return (pick,) if pick else remaining(view)
