"""Hill climbing from the best of all starts."""

import random
from collections.abc import Sequence

from kernwright.core.brief import Pick
from kernwright.core.ports import GraphView

from .bounds import Count
from .moves import begun, remaining, starting, tuning


class Greedy:
    """Starts first, then the best node: its knobs once, its source again and again."""

    name = "greedy"

    def __init__(self, *, starts: Count | None = None) -> None:
        """`starts` is how many to begin with; all that operators have where None."""
        self._starts = starts

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """Starts together; tunings one at a time."""
        if "start" not in view.exhausted:
            left = n if self._starts is None else min(n, self._starts - begun(view, self._starts))
            if left > 0:
                return (Pick(memory=False),) * left
        if starting(view):
            return ()
        best = view.best()
        if best is None:
            return remaining(view)
        if tune := tuning(view, best):
            return (tune,)
        if "improve" in view.exhausted:
            return remaining(view)
        return (Pick(parents=(best.id,), intent="improve"),) * n
