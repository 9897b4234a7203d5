"""Islands of clusters by score, the weaker half of which is founded anew from time to time (FunSearch)."""

import math
import random
from collections.abc import Sequence

from kernwright.core.brief import Pick, Proposed
from kernwright.core.node import Node
from kernwright.core.ports import GraphView

from .bounds import Count, Few, Positive
from .moves import child, drawn, founding, merit, remaining, softmax, worst_first

LOOKED_AT = 64
"""Of an island's best; the others' share of a softmax is nothing."""


def temperature_at(programs: int, first: float = 0.1, period: int = 30_000) -> float:
    """Of the softmax over clusters, on an island that has had so many programs."""
    return first * (1 - (programs % period) / period)


def length_weights(chars: Sequence[int]) -> list[float]:
    """Inside a cluster: proportional to exp(-normalised length)."""
    least, most = min(chars), max(chars)
    return softmax([-(length - least) / (most + 1e-6) for length in chars], 1.0)


class Islands:
    """An island's number tells its place (modulo `islands`) and which founding of that place it is.

    So a reset is a pick like any other, and which islands live follows from the journal: a place is held by the
    highest number that was picked for it. The first child on an island has its founder for a parent; all other parents
    are from the island itself or that founder.
    """

    name = "islands"

    def __init__(
        self,
        *,
        islands: Few = 10,
        programs: Count = 2,
        temperature: Positive = 0.1,
        period: Count = 30_000,
        cluster: Positive = 0.01,
        reset_every: Count = 1_000,
        replace: bool = False,
    ) -> None:
        """`cluster` is how far scores in one cluster lie apart; `reset_every` counts nodes.

        With `replace`, the same cluster may be drawn twice, and a program drawn twice is one parent.
        """
        self._islands = islands
        self._programs = programs
        self._temperature = temperature
        self._period = period
        self._cluster = cluster
        self._reset_every = max(reset_every, islands)
        self._replace = replace

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """A start until one is measured, then a child on an island drawn at random."""
        first = view.best()
        if first is None:
            return founding(view, n, 1)
        living = self.living(view)
        place = rng.randrange(self._islands)
        pick = self._reset(view, living, rng)
        if pick is None and place in living:
            parents = self._prompted(view, living[place], rng)
            pick = child(view, parents, island=living[place], intents=("combine", "improve"))
        elif pick is None:
            outside = (node for node in view.ranked(LOOKED_AT) if node.pick.island is None)
            pick = child(view, [next(outside, first)], island=place, intents=("improve", "start"))
        return (pick,) if pick else remaining(view)

    def living(self, view: GraphView) -> dict[int, int]:
        """Place to the number of the island that holds it."""
        held: dict[int, int] = {}
        for number in view.islands:
            place = number % self._islands
            held[place] = max(number, held.get(place, number))
        return held

    def _reset(self, view: GraphView, living: dict[int, int], rng: random.Random) -> Pick | None:
        """The founding of the weakest island that is still to be reset in this epoch."""
        epoch = len(view.nodes) // self._reset_every
        old = {place: number for place, number in living.items() if number // self._islands < epoch}
        left = len(living) // 2 - (len(living) - len(old))
        if epoch == 0 or left <= 0:
            return None
        strength = {
            place: max(map(merit, members(view, number, 1)), default=-math.inf) for place, number in old.items()
        }
        order = sorted(old, key=lambda place: (strength[place], place))
        survivors = [place for place in order[left:] if strength[place] > -math.inf]
        if not survivors:
            return None
        founder = max(members(view, old[rng.choice(survivors)], 1), key=lambda node: (merit(node), -node.id))
        number = epoch * self._islands + order[0]
        return child(view, [founder], island=number, intents=("improve", "start"))

    def _prompted(self, view: GraphView, island: int, rng: random.Random) -> list[Node]:
        clusters: dict[int, list[Node]] = {}
        for node in members(view, island, LOOKED_AT):
            clusters.setdefault(round(merit(node) / self._cluster), []).append(node)
        if not clusters:
            return []
        temperature = temperature_at(len(view.islands[island]), self._temperature, self._period)
        weights = softmax([key * self._cluster for key in clusters], temperature)
        groups = list(clusters.values())
        if self._replace:
            chosen = rng.choices(groups, weights=weights, k=self._programs)
        else:
            chosen = drawn(rng, groups, weights, self._programs)
        programs = {node.id: node for group in chosen for node in drawn(rng, group, length_weights(_chars(group)), 1)}
        return worst_first(list(programs.values()))


def members(view: GraphView, island: int, k: int) -> list[Node]:
    """The k best measured on an island, and its founder."""
    found = list(view.ranked(k, island))
    founder = [view.nodes[id] for id in view.nodes[view.islands[island][0]].pick.parents]
    return found + [node for node in founder if node.merit is not None]


def _chars(nodes: Sequence[Node]) -> list[int]:
    return [node.draft.chars if isinstance(node.draft, Proposed) else 0 for node in nodes]
