"""What several policies look for in a graph."""

from itertools import islice

from kernwright.core.brief import Exhausted, Pick, Proposed
from kernwright.core.graph import Node
from kernwright.core.ports import GraphView

RIGHT = frozenset({"built", "checked", "measured", "verified"})
"""Outcomes that repair has nothing to do with."""


def begun(view: GraphView, limit: int) -> int:
    """How many starts there are, in flight included; counted up to `limit`, which comes early in a graph."""
    starts = (n for n in view.nodes if n.pick.intent == "start" and not isinstance(n.draft, Exhausted))
    return sum(1 for _ in islice(starts, limit))


def starting(view: GraphView) -> bool:
    """Whether a start is still in flight."""
    return any(node.pick.intent == "start" for node in view.in_flight())


def tuning(view: GraphView, node: Node) -> Pick | None:
    """The pick that tunes this node, where it has knobs that were not tuned yet."""
    if "tune" in view.exhausted or not isinstance(node.draft, Proposed) or not node.draft.knobs:
        return None
    if any(view.nodes[child].pick.intent == "tune" for child in view.children(node.id)):
        return None
    return Pick(parents=(node.id,), intent="tune")


def repairing(view: GraphView) -> Pick | None:
    """The pick that repairs the newest failure, where nothing is at it already."""
    if "repair" in view.exhausted:
        return None
    for node in reversed(view.nodes):
        if node.in_flight and node.pick.intent == "repair":
            return None
        if node.candidate and node.evaluation and node.evaluation.outcome.kind not in RIGHT:
            return Pick(parents=(node.id,), intent="repair")
    return None
