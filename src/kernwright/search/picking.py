"""What holds for every policy: the method's intents, repairs, and what a person wants."""

import random
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice
from typing import get_args, overload

from kernwright.core.brief import Intent, Pick
from kernwright.core.node import Node
from kernwright.core.ports import GraphView, Policy

from .policies.moves import child, failed, tuning

RECENT = 64
"""Nodes from the newest in which a failure is looked for."""
TRIES = 4
"""How often a policy is asked again that chose what is banned."""
PREFERENCE = 0.5
"""Share of the picks that pinned nodes get once each was expanded."""


class Picking:
    """A policy, with repairs before it and a person's pins before those."""

    def __init__(self, policy: Policy, *, intents: Sequence[Intent] = (), repairs: int = 0) -> None:
        """`intents` are all that may be asked for, `repair` aside; a failure goes back `repairs` times in a row."""
        self.name = policy.name
        self._policy = policy
        self._repairs = repairs
        allowed = {*intents, "repair"} if repairs else set(intents)
        self._never = frozenset(set(get_args(Intent)) - allowed) if intents else frozenset()

    def pick(self, view: GraphView, n: int, rng: random.Random) -> Sequence[Pick]:
        """Up to n picks."""
        seen = Narrowed(view, self._never) if self._never or view.banned else view
        if view.pinned and (pick := _expanding(seen, rng)):
            return (pick,)
        if self._repairs and "repair" not in seen.exhausted and (pick := self._repairing(seen, self._repairs)):
            return (pick,)
        for _ in range(TRIES):
            picks = self._policy.pick(seen, n, rng)
            kept = [pick for pick in picks if view.banned.isdisjoint(pick.parents)]
            if kept:
                return kept
            if not picks:
                break
        # With nothing measured and nothing else to ask for, a failure is all there is to go on.
        if seen.best() is None and not seen.in_flight() and "repair" not in seen.exhausted:
            return tuple(filter(None, (self._repairing(seen, RECENT),)))
        return ()

    def _repairing(self, view: GraphView, limit: int) -> Pick | None:
        """The newest failure that nobody has repaired, or tried to often enough."""
        for node in islice(reversed(view.nodes), RECENT):
            if not failed(node) or node.pick.intent == "tune" or node.id in view.banned:
                continue
            if any(view.nodes[id].pick.intent == "repair" for id in view.children(node.id)):
                continue
            if _row(view, node, limit) < limit:
                return Pick(parents=(node.id,), intent="repair", island=node.pick.island, memory=node.pick.memory)
        return None


def _row(view: GraphView, node: Node, limit: int) -> int:
    """How many repairs in a row led to the node, counted up to the limit."""
    row = 0
    while node.pick.intent == "repair" and node.pick.parents and row < limit:
        node, row = view.nodes[node.pick.parents[0]], row + 1
    return row


def _expanding(view: GraphView, rng: random.Random) -> Pick | None:
    """The next child of a pinned node: at once where it has none since, else for a share of the picks."""
    fresh = [node for node, said in view.pinned.items() if all(id < said for id in view.children(node))]
    nodes = fresh or (list(view.pinned) if rng.random() < PREFERENCE else [])
    for id in sorted(nodes, key=lambda id: (len(view.children(id)), id)):
        node = view.nodes[id]
        if node.candidate is None or node.in_flight:
            continue
        intents: tuple[Intent, ...] = ("repair", "improve") if failed(node) else ("improve",)
        if pick := child(view, [node], island=node.pick.island, intents=intents) or tuning(view, node):
            return pick
    return None


class Narrowed:
    """A view in which some intents are exhausted, and banned nodes are worth nothing."""

    def __init__(self, view: GraphView, never: Set[Intent]) -> None:
        self._view = view
        self._banned = view.banned
        self.exhausted: set[Intent] = view.exhausted | never
        self.nodes: Sequence[Node] = _Worthless(view.nodes, view.banned) if view.banned else view.nodes

    @property
    def start(self) -> Sequence[str]:
        return self._view.start

    @property
    def stale(self) -> int:
        return self._view.stale

    @property
    def islands(self) -> Mapping[int, Sequence[int]]:
        return self._view.islands

    @property
    def pinned(self) -> Mapping[int, int]:
        return self._view.pinned

    @property
    def banned(self) -> Set[int]:
        return self._banned

    def children(self, node: int) -> Sequence[int]:
        return self._view.children(node)

    def subtree(self, node: int) -> tuple[int, float]:
        return self._view.subtree(node)

    def ranked(self, k: int, island: int | None = None) -> Sequence[Node]:
        ranked = self._view.ranked(k + len(self._banned), island)
        return [node for node in ranked if node.id not in self._banned][:k]

    def best(self) -> Node | None:
        return next(iter(self.ranked(1)), None)

    def in_flight(self) -> Sequence[Node]:
        return self._view.in_flight()


class _Worthless(Sequence[Node]):
    """Nodes, of which the banned have no score."""

    def __init__(self, nodes: Sequence[Node], banned: Set[int]) -> None:
        self._nodes, self._banned = nodes, banned

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[Node]:
        return map(self._seen, self._nodes)

    def __reversed__(self) -> Iterator[Node]:
        return map(self._seen, reversed(self._nodes))

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Node]: ...
    def __getitem__(self, index: int | slice) -> Node | Sequence[Node]:
        if isinstance(index, slice):
            return [self._seen(node) for node in self._nodes[index]]
        return self._seen(self._nodes[index])

    def _seen(self, node: Node) -> Node:
        return replace(node, score=None, credit=None) if node.id in self._banned else node
