"""Monte-Carlo tree search with the upper confidence bound for trees (KernelEvolve)."""

import math
import random
from collections.abc import Sequence
from itertools import islice

from kernwright.core.brief import Pick
from kernwright.core.graph import ROOTS
from kernwright.core.node import Node
from kernwright.core.ports import GraphView

from .bounds import Count, Weight
from .moves import child, founding, opening, remaining

CHILDREN = 512
"""Of a node, the oldest, that are looked at."""


def uct(reward: float, visits: int, above: int, c: float) -> float:
    """Q / n + C * sqrt(ln N / n), with N the visits of the parent; infinite for what was never visited."""
    return math.inf if visits == 0 else reward / visits + c * math.sqrt(math.log(max(above, 1)) / visits)


class Mcts:
    """From the roots to the child of highest bound, until a node has room for another child."""

    name = "mcts"

    def __init__(self, *, drafts: Count = 10, c: Weight = 0.5, branching: Count = 3) -> None:
        """`drafts` are the starts; rewards lie in (0, 1), so that `c` has the same meaning for every problem."""
        self._drafts = drafts
        self._c = c
        self._branching = branching

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """Drafts first; visits in flight count, so that picks at a time spread."""
        if starts := opening(view, n, self._drafts) or founding(view, n, 1):
            return starts
        chosen = self.leaf(view)
        pick = child(view, [chosen], intents=("improve",)) if chosen else None
        return (pick,) if pick else remaining(view)

    def leaf(self, view: GraphView) -> Node | None:
        """The node to expand; None while nothing was measured."""
        at: Node | None = None
        above = sum(view.subtree(id)[0] for id in view.children(ROOTS))
        while True:
            ids = view.children(at.id if at else ROOTS)
            if at is not None and len(ids) < self._branching:
                return at
            open_ = [id for id in islice(ids, CHILDREN) if view.nodes[id].merit is not None]
            if not open_:
                return at
            best, above_best = open_[0], 0
            bound = -math.inf
            for id in open_:
                visits, reward = view.subtree(id)
                if (value := uct(reward, visits, above, self._c)) > bound:
                    best, bound, above_best = id, value, visits
            at, above = view.nodes[best], above_best
