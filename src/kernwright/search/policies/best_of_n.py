"""Independent starts, of which the best counts."""

import random
from collections.abc import Sequence

from kernwright.core.brief import Pick
from kernwright.core.ports import GraphView

from .bounds import Count
from .moves import begun


class BestOfN:
    """The baseline that every search has to beat at the same budget."""

    name = "best_of_n"

    def __init__(self, *, n: Count = 16) -> None:
        self._n = n

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """Starts, until there are as many as asked for or no more to be had."""
        if "start" in view.exhausted:
            return ()
        return (Pick(),) * max(0, min(n, self._n - begun(view, self._n)))
