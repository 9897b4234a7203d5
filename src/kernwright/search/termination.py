"""When a search is over, and what has to be confirmed before it may say so."""

from collections.abc import Iterable

from kernwright.core.graph import Graph
from kernwright.core.node import Node
from kernwright.core.outcome import timings_of
from kernwright.core.plan import Plan
from kernwright.core.ports import GraphView
from kernwright.core.spec import Budget, Spent

WATCHED = 8
"""Nodes from the top that are looked at after every step."""


def affordable(graph: Graph) -> list[Node]:
    """Nodes in flight, but for open ones beyond a budget of proposals that was made smaller: nobody waits for these."""
    flying = graph.in_flight()
    if graph.budget.proposals is None:
        return flying
    left = graph.budget.proposals - sum(node.draft is not None for node in graph.nodes)
    beyond = {node.id for node in [node for node in flying if node.draft is None][max(left, 0) :]}
    return [node for node in flying if node.id not in beyond]


def reached(view: GraphView, until: float | None) -> str | None:
    """The reason to end where a verified lower bound is at least `until`."""
    if until is None:
        return None
    for node in view.ranked(WATCHED):
        timings = timings_of(node.evaluation.outcome) if node.evaluation else None
        if node.verified and timings is not None and timings.faster and timings.speedup.low >= until:
            return f"a verified speedup of at least {until:g} was reached"
    return None


def promising(view: GraphView, until: float | None, plan: Plan) -> Node | None:
    """The best node where it was measured at `until` or above and is not confirmed yet."""
    if until is None:
        return None
    best = max(_contenders(view.ranked(WATCHED)), key=lambda n: (n.score or 0.0, -n.id), default=None)
    if best is None or best.evaluation is None or confirmed(best, plan):
        return None
    timings = timings_of(best.evaluation.outcome)
    return best if timings is not None and timings.speedup.estimate >= until else None


def confirmed(node: Node, plan: Plan) -> bool:
    """Whether a confirmation could say nothing new of the node."""
    return node.verified or (node.evaluation is not None and node.evaluation.plan == plan.name)


def unconfirmed_top(graph: Graph, plan: Plan) -> Node | None:
    """The node of highest own score where it still has to be confirmed; None where that is done."""
    top = max(_contenders(graph.nodes), key=lambda n: (n.score or 0.0, -n.id), default=None)
    return None if top is None or confirmed(top, plan) else top


def _contenders(nodes: Iterable[Node]) -> list[Node]:
    """Those with a score; where one is shown to be faster, without those whose confirmation could not show it."""
    scored = [node for node in nodes if node.score is not None]
    if not any(node.verified and node.faster for node in scored):
        return scored
    return [node for node in scored if node.faster or not node.verified]


def impatient(stale: int, patience: int | None) -> str | None:
    """The reason to end after too many evaluated proposals without a better score."""
    if patience is None or stale < patience:
        return None
    return f"no better score in {stale} evaluated proposals"


def overtime(spent: Spent, budget: Budget) -> str | None:
    """The reason to end at once where the time is up; the other budgets let what has begun end."""
    return spent.exceeds(Budget(seconds=budget.seconds))
