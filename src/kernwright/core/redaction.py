"""A problem as whoever writes candidates may see it: what is held out stays untold."""

import ast
from dataclasses import replace
from functools import lru_cache

from .problem import Problem


def redacted(problem: Problem) -> Problem:
    """The problem with no held-out workload, neither in the list nor in the source."""
    if len(problem.timed) == len(problem.workloads):
        return problem
    return replace(problem, workloads=problem.timed, source=_without_held_out(problem))


def covered(text: str, problem: Problem) -> str:
    """The text with no name of a held-out workload."""
    for workload in problem.workloads:
        if workload.held_out:
            text = text.replace(f"workload {workload.name!r}", "a held-out workload").replace(workload.name, "held-out")
    return text


def _without_held_out(problem: Problem) -> str:
    table = {w.name: {**w.params, **({"weight": w.weight} if w.weight != 1.0 else {})} for w in problem.timed}
    return _rewritten(problem.source, "".join(f"    {name!r}: {entry!r},\n" for name, entry in table.items()))


@lru_cache(maxsize=8)
def _rewritten(source: str, rows: str) -> str:
    """The source with `WORKLOADS` written anew; everything else as it stands. Every prompt of a run asks for it."""
    lines = source.splitlines(keepends=True)
    for node in reversed(ast.parse(source).body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(t, ast.Name) and t.id == "WORKLOADS" for t in targets):
            assert node.end_lineno is not None
            lines[node.lineno - 1 : node.end_lineno] = [f"WORKLOADS = {{\n{rows}}}\n"]
    return "".join(lines)
