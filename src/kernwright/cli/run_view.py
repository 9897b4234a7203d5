"""A run on a screen of 80 columns, and as JSON."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kernwright.core.brief import Exhausted, Proposed, Remarked, Unusable
from kernwright.core.events import Steered
from kernwright.core.graph import Graph, speedup_of
from kernwright.core.node import Node
from kernwright.core.outcome import timings_of

from . import figures
from .profile_view import ledger_json
from .verdict_view import COLOURS

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kernwright.engine.reading import RunView

WIDTH = 8
"""Columns for a node's number, whose indentation says how deep it lies as far as there is room."""
BUDGETS = ("proposals", "evaluations", "seconds", "usd", "tokens")


def node_json(node: Node, *, elsewhere: bool = False) -> dict[str, Any]:
    """One node without its evaluation's details; `elsewhere` says where its run is judged."""
    outcome = node.evaluation.outcome if node.evaluation else None
    timings = timings_of(outcome) if outcome else None
    draft = node.draft
    return {
        "node": node.id,
        "parents": list(node.pick.parents),
        "intent": node.pick.intent,
        "state": state_of(node, elsewhere=elsewhere),
        "operator": draft.operator if draft else None,
        "author": draft.author if isinstance(draft, Proposed | Remarked) else None,
        "summary": draft.summary if isinstance(draft, Proposed) else None,
        "approach": draft.approach if isinstance(draft, Proposed) else None,
        "insights": list(draft.insights) if isinstance(draft, Proposed) else [],
        "expects": list(draft.expects) if isinstance(draft, Proposed) else [],
        "text": draft.text if isinstance(draft, Remarked) else None,
        "reason": draft.reason if isinstance(draft, Unusable) else (outcome.reason if outcome else None),
        "verdict": outcome.kind if outcome else None,
        "faster": timings.faster if timings else False,
        "speedup": timings.speedup.estimate if timings else None,
        "speedup_low": timings.speedup.low if timings else None,
        "speedup_high": timings.speedup.high if timings else None,
        "speedup_eager": timings.speedup_eager.estimate if timings and timings.speedup_eager else None,
        "speedup_compile": timings.speedup_compile.estimate if timings and timings.speedup_compile else None,
        "baseline": timings.baseline if timings else None,
        "baselines": {each.workload: each.baseline for each in timings.workloads} if timings else None,
        "plan": node.evaluation.plan if node.evaluation else None,
        "candidate": node.evaluation.candidate if node.evaluation else None,
        "score": node.score,
    }


def run_json(view: "RunView") -> dict[str, Any]:
    """The whole run: what was asked for, what came of it."""
    graph = view.graph
    champion = graph.champion()
    return {
        **summary_json(view),
        "spec": view.spec,
        "budget": graph.budget,
        "until": graph.until,
        "patience": graph.patience,
        "faults": graph.faults,
        "steering": steering_json(graph),
        "knowledge": graph.knowledge or None,
        "seeds": graph.seeds,
        "learnt": list(graph.learnt),
        "devices": devices_of(graph),
        "champion": node_json(champion) if champion else None,
        "calls": len(graph.calls),
        "ledger": ledger_json(graph),
        "nodes": [
            node_json(node, elsewhere=view.spec.elsewhere)
            for node in graph.nodes
            if not isinstance(node.draft, Exhausted)
        ],
    }


def summary_json(view: "RunView") -> dict[str, Any]:
    """A row of `runs`."""
    graph = view.graph
    champion, best = graph.champion(), graph.best()
    return {
        "run": view.id,
        "problem": view.problem.name,
        "problem_id": view.problem.id,
        "target": view.spec.target,
        "started_at": view.started_at,
        "finished": graph.finished.reason if graph.finished else None,
        "proposals": graph.spent.proposals,
        "spent": {**asdict(graph.spent), "tokens": graph.spent.tokens},
        "champion_node": champion.id if champion else None,
        "best_node": best.id if best else None,
        "best_speedup": speedup_of(best) if best else None,
    }


def state_of(node: Node, *, elsewhere: bool = False) -> str:
    """A verdict, or how far the node has come."""
    match node.draft:
        case None:
            return "open"
        case Unusable():
            return "unusable"
        case Exhausted():
            return "exhausted"
        case Remarked():
            return "remarked"
    if node.evaluation is None:
        return "pending" if elsewhere else "evaluating"
    return node.evaluation.outcome.kind


def header(view: "RunView") -> "Iterator[RenderableType]":
    """What the run is and what it has spent."""
    from rich.text import Text

    graph, spec = view.graph, view.spec
    yield Text.assemble((view.id, "bold"), f"  {view.problem.name} on {spec.target}")
    operators = ", ".join(operator.name for operator in spec.operators)
    author = f" · author {spec.author}" if spec.author else ""
    author += f" · models {', '.join(model.name for model in spec.models)}" if spec.models else ""
    method = f"method {spec.method} · " if spec.method else ""
    yield Text(f"{method}policy {spec.policy} · operators {operators} · plan {spec.plan.name}{author}", style="dim")
    yield Text(f"spent {spending(graph)}", style="dim")
    ended = graph.finished.reason if graph.finished else "not ended; `kernwright resume` goes on"
    yield Text(f"state: {ended}", style="dim")
    for line in steering(graph):
        yield Text(line, style="dim")
    if told := mixed(graph):
        yield Text(told, style="yellow")


def devices_of(graph: Graph) -> dict[str, list[int]]:
    """By model of the device that a figure comes from, the nodes that have one; where its model is known."""
    found: dict[str, list[int]] = {}
    for node in graph.nodes:
        if node.evaluation and node.evaluation.device and timings_of(node.evaluation.outcome):
            found.setdefault(node.evaluation.device, []).append(node.id)
    return found


def mixed(graph: Graph) -> str:
    """Where a run's figures come from devices of several models, which; else nothing."""
    devices = devices_of(graph)
    if len(devices) < 2:
        return ""
    each = "; ".join(f"{model}: node{'s' if len(n) > 1 else ''} {_ranges(n)}" for model, n in sorted(devices.items()))
    return f"figures of several devices, of which one says little about another ({each})"


def _ranges(numbers: Sequence[int]) -> str:
    """Of numbers in order, such as `0-3, 5`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def steering_json(graph: Graph) -> dict[str, Any]:
    """What people want of the search by now."""
    return {"pinned": sorted(graph.pinned), "banned": sorted(graph.banned), "hints": graph.hints}


def steering(graph: Graph) -> Iterator[str]:
    """The same in lines; none where nobody took a hand."""
    for what, nodes in (("pinned", graph.pinned), ("banned", graph.banned)):
        if nodes:
            yield f"{what}: node{'s' if len(nodes) != 1 else ''} {', '.join(map(str, sorted(nodes)))}"
    for hint in graph.hints:
        yield f"hint: {hint}"


def wish(event: Steered) -> str:
    """What a person wanted, in a few words."""
    by = f" (by {event.author})" if event.author else ""
    match event.action:
        case "hint":
            return f"hint: {event.text}{by}"
        case "ban" if event.node is None:
            return f"idea banned: {event.text}{by}"
        case "free" if event.node is None:
            return f"taken back: {event.text}{by}"
        case "fork":
            return f"node {event.node} begins run {event.text}{by}"
        case "pin" | "ban" | "free" as action:
            said = {"pin": "pinned", "ban": "banned", "free": "neither pinned nor banned any more"}[action]
            return f"node {event.node} is {said}{by}"


def spending(graph: Graph, seconds: float | None = None) -> str:
    """What is spent of each budget, and what is left."""
    parts = []
    for name in BUDGETS:
        spent, limit = getattr(graph.spent, name), getattr(graph.budget, name)
        if name == "seconds":
            spent = seconds if seconds is not None else spent
            text = figures.seconds(spent) + (f" of {figures.seconds(limit)}" if limit is not None else "")
            text += " (what had begun was ended, the best verified)" if limit is not None and spent > limit else ""
        elif name == "usd":
            text = figures.usd(spent) + (f" of {figures.usd(limit)}" if limit is not None else "")
        else:
            of = f" of {limit}" if limit is not None else ""
            text = f"{spent}{of} {name if spent != 1 or of else name[:-1]}"
        if spent or limit is not None or name not in ("usd", "tokens"):
            parts.append(text)
    return " · ".join(parts)


def nodes_view(graph: Graph) -> "Iterator[RenderableType]":
    """The graph as a tree under first parents: verdict, speedup, who, and what it is."""
    yield from _rows(graph, _tree(graph))


def verdicts_view(graph: Graph) -> "Iterator[RenderableType]":
    """Every proposal that came to an end, in order: verdict, speedup, who, and what it is or why it failed."""
    yield from _rows(graph, ((0, node) for node in graph.nodes if node.draft is not None))


def baselines_view(graph: Graph) -> "Iterator[RenderableType]":
    """Which baseline each node's speedup is against: the faster one as it was timed beside that node."""
    from rich.text import Text

    found: dict[str, list[str]] = {}
    for node in graph.nodes:
        timings = timings_of(node.evaluation.outcome) if node.evaluation else None
        if timings is not None:
            each = ", ".join(f"{w.baseline} on {w.workload}" for w in timings.workloads)
            found.setdefault(each if timings.baseline == "mixed" else timings.baseline, []).append(str(node.id))
    if not found:
        return
    if len(found) == 1:
        yield Text(f"speedups are against {next(iter(found))}, the faster baseline", style="dim")
        return
    groups = "; ".join(f"{name} (node{'s' if len(ids) > 1 else ''} {', '.join(ids)})" for name, ids in found.items())
    yield Text(
        f"speedups are against the faster baseline as it was timed beside each node: {groups}. Across these, compare "
        "times or speedup_eager of --json.",
        style="dim",
    )


def _rows(graph: Graph, nodes: Iterable[tuple[int, Node]]) -> "Iterator[RenderableType]":
    from rich.padding import Padding
    from rich.text import Text

    yield Text(f"{'node':<{WIDTH}}{'verdict':<14}{'speedup [95 %]':<26}by", style="bold")
    champion = graph.champion()
    for depth, node in nodes:
        if isinstance(node.draft, Exhausted):
            continue
        state = state_of(node, elsewhere=graph.spec is not None and graph.spec.elsewhere)
        star = " *" if champion is not None and champion.id == node.id else ""
        yield Text.assemble(
            f"{node.id}{star}".rjust(min(WIDTH - 1, 2 * depth + len(f"{node.id}{star}"))).ljust(WIDTH),
            (f"{state:<14}", COLOURS.get(state, "red" if node.evaluation else "dim")),
            f"{figures.result(node.evaluation):<26}",
            who(node),
        )
        # A second line, since a column for sentences would be a few characters wide.
        if what := what_of(node):
            yield Padding(Text(what, style="dim"), (0, 0, 0, WIDTH), expand=False)


def what_of(node: Node) -> str:
    """What a candidate is where it came through, why not where it did not."""
    draft = node.draft
    if isinstance(draft, Unusable):
        return _short(draft.reason)
    if isinstance(draft, Remarked):
        return _short(draft.text)
    summary = draft.summary if isinstance(draft, Proposed) else ""
    outcome = node.evaluation.outcome if node.evaluation else None
    others = node.pick.parents[1:]
    also = f" (also from {', '.join(map(str, others))})" if others else ""
    if outcome is None or timings_of(outcome) is not None:
        return _short(summary) + also
    return _short(f"{summary}{also} - {outcome.reason}" if summary else outcome.reason, 240)


def who(node: Node) -> str:
    """The operator, with the author where there is one, and what was asked of it."""
    draft = node.draft
    if draft is None:
        return node.pick.intent
    author = draft.author if isinstance(draft, Proposed | Remarked) else ""
    return f"{draft.operator} ({author})" if author else draft.operator


def _short(text: str, limit: int = 120) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _tree(graph: Graph) -> Iterator[tuple[int, Node]]:
    children: dict[int, list[int]] = {}
    roots = []
    for node in graph.nodes:
        if node.pick.parents:
            children.setdefault(node.pick.parents[0], []).append(node.id)
        else:
            roots.append(node.id)
    stack = [(0, root) for root in reversed(roots)]
    while stack:
        depth, number = stack.pop()
        yield depth, graph.nodes[number]
        stack += [(depth + 1, child) for child in reversed(children.get(number, ()))]
