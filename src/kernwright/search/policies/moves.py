"""What several policies look for in a graph."""

import math
import random
from collections.abc import Sequence
from itertools import islice
from typing import TypeVar

from kernwright.core.brief import Exhausted, Intent, Pick, Proposed
from kernwright.core.node import Node
from kernwright.core.outcome import timings_of
from kernwright.core.ports import GraphView

T = TypeVar("T")

RIGHT = frozenset({"built", "checked", "measured", "verified"})
"""Outcomes that repair has nothing to do with."""


def begun(view: GraphView, limit: int) -> int:
    """How many starts there are, in flight included; counted up to `limit`, which comes early in a graph."""
    starts = (n for n in view.nodes if n.pick.intent == "start" and not isinstance(n.draft, Exhausted))
    return sum(1 for _ in islice(starts, limit))


def starting(view: GraphView) -> bool:
    """Whether a start is still in flight."""
    return any(node.pick.intent == "start" for node in view.in_flight())


def opening(view: GraphView, n: int, wanted: int) -> Sequence[Pick]:
    """Starts up to `wanted` of them, those that the user gave included; none once operators have no more.

    They are independent of each other: none of them recalls anything.
    """
    if "start" in view.exhausted:
        return ()
    wanted = max(wanted, len(view.start))
    return (Pick(memory=False),) * min(n, wanted - begun(view, wanted))


def founding(view: GraphView, n: int, valid: int) -> Sequence[Pick]:
    """Starts until so many nodes are measured; those in flight may fail and do not count."""
    if "start" in view.exhausted or len(view.ranked(valid)) >= valid:
        return ()
    return (Pick(),) * n


def remaining(view: GraphView) -> Sequence[Pick]:
    """Where nothing can be made of what there is: another start, unless what is in flight may change that."""
    hopeful = view.in_flight() and not {"improve", "combine"} <= view.exhausted
    return () if hopeful or "start" in view.exhausted else (Pick(),)


def tuning(view: GraphView, node: Node) -> Pick | None:
    """The pick that tunes this node, where it has knobs that were not tuned yet."""
    if "tune" in view.exhausted or not isinstance(node.draft, Proposed) or not node.draft.knobs:
        return None
    if any(view.nodes[child].pick.intent == "tune" for child in view.children(node.id)):
        return None
    return Pick(parents=(node.id,), intent="tune", island=node.pick.island)


def failed(node: Node) -> bool:
    """Whether there is a candidate that came to a bad end."""
    return bool(node.candidate and node.evaluation and node.evaluation.outcome.kind not in RIGHT)


def distinct(view: GraphView, n: int, island: int | None = None) -> list[Node]:
    """The n best of different source, best first."""
    found: dict[str | None, Node] = {}
    for node in view.ranked(4 * n, island):
        found.setdefault(node.candidate, node)
    return list(found.values())[:n]


def child(
    view: GraphView,
    parents: Sequence[Node],
    *,
    island: int | None = None,
    variant: str = "",
    memory: bool = True,
    intents: Sequence[Intent] = ("combine", "improve"),
) -> Pick | None:
    """A child by the first of these intents that is to be had; all but `combine` take the last parent alone."""
    for intent in intents:
        if intent in view.exhausted or not parents or (intent == "combine" and len(parents) < 2):
            continue
        ids = tuple(node.id for node in (parents if intent == "combine" else parents[-1:]))
        return Pick(parents=ids, intent=intent, island=island, variant=variant, memory=memory)
    return None


def either(pair: bool) -> tuple[Intent, ...]:
    """Two parents or one, and the other where that is not to be had."""
    return ("combine", "improve") if pair else ("improve", "combine")


def merit(node: Node) -> float:
    """Below every number where nothing was measured."""
    return -math.inf if node.merit is None else node.merit


def worst_first(nodes: Sequence[Node]) -> list[Node]:
    """In order of merit, the newer of equals last."""
    return sorted(nodes, key=lambda node: (merit(node), node.id))


def drawn(rng: random.Random, items: Sequence[T], weights: Sequence[float], k: int) -> list[T]:
    """k different items, each drawn by its weight from those that are left."""
    left, odds, found = list(items), list(weights), []
    for _ in range(min(k, len(left))):
        [at] = rng.choices(range(len(left)), weights=odds if sum(odds) > 0 else None)
        found.append(left.pop(at))
        odds.pop(at)
    return found


def softmax(scores: Sequence[float], temperature: float) -> list[float]:
    """Weights proportional to exp(score / temperature)."""
    top = max(scores, default=0.0)
    return [math.exp((score - top) / temperature) for score in scores]


def by_workload(node: Node) -> dict[str, float]:
    """Log speedup on each workload; empty where nothing was measured."""
    timings = timings_of(node.evaluation.outcome) if node.evaluation else None
    if timings is None or node.merit is None:
        return {}
    found = {each.workload: each.speedup.estimate for each in timings.workloads}
    return {name: math.log(speedup) for name, speedup in found.items() if 0 < speedup < math.inf}


def winners(nodes: Sequence[Node]) -> dict[int, int]:
    """Per node that is the best on some workload: on how many; the earlier of equals."""
    best: dict[str, tuple[float, int]] = {}
    for node in nodes:
        for name, score in by_workload(node).items():
            if name not in best or score > best[name][0]:
                best[name] = (score, node.id)
    counts: dict[int, int] = {}
    for _, id in best.values():
        counts[id] = counts.get(id, 0) + 1
    return counts
