"""What writers of candidates expected, against what was seen: one line for each idea."""

from collections.abc import Sequence
from dataclasses import dataclass

from kernwright.core.brief import Proposed
from kernwright.core.expectation import MOST, Seen, Sight, expectation_of, seen_of
from kernwright.core.node import Node
from kernwright.core.outcome import Evaluation, timings_of

from .figures import figures_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One expectation of one proposal."""

    node: int
    parent: int
    idea: str
    """Its name, by whoever wrote it."""
    seen: Seen


def expected_of(node: Node, nodes: Sequence[Node]) -> tuple[Seen, ...]:
    """What a node's writer expected against its first parent, and what the figures of both say by now."""
    draft = node.draft
    if not isinstance(draft, Proposed) or not node.pick.parents or node.evaluation is None:
        return ()
    parent = nodes[node.pick.parents[0]]
    old, new = alike(parent, node)
    before, after = _sight(parent, old), _sight(node, new)
    return tuple(seen_of(expectation_of(text), before, after) for text in draft.expects[:MOST])


def alike(before: Node, after: Node) -> tuple[Evaluation | None, Evaluation | None]:
    """An evaluation of each, under the same plan where both have one: a cold cache alone makes times others."""
    for old in (before.evaluation, before.searched):
        for new in (after.evaluation, after.searched):
            if old is not None and new is not None and old.plan == new.plan:
                return old, new
    return before.evaluation, after.evaluation


def _sight(node: Node, evaluation: Evaluation | None) -> Sight:
    timings = timings_of(evaluation.outcome) if evaluation is not None else None
    timed = [each for each in timings.workloads if "candidate" in each.time_ns] if timings is not None else []
    return Sight(
        figures=figures_of(node.profile, evaluation),
        workload=node.profile.workload if node.profile is not None else "",
        times_ns={each.workload: each.time_ns["candidate"] for each in timed},
        weights={each.workload: each.weight for each in timed},
        plan=evaluation.plan if evaluation is not None else "",
    )


def ledger(nodes: Sequence[Node]) -> list[Row]:
    """Of a whole run, in the order of its nodes."""
    return [
        Row(node=node.id, parent=node.pick.parents[0], idea=node.draft.summary, seen=seen)
        for node in nodes
        if isinstance(node.draft, Proposed)
        for seen in expected_of(node, nodes)
    ]


def tallied(rows: Sequence[Row]) -> dict[str, int]:
    """How many came, came partly, did not, turned out the other way, and were not seen."""
    counts = {"came": 0, "partly": 0, "not": 0, "opposite": 0, "unseen": 0}
    for row in rows:
        counts[row.seen.verdict] += 1
    return counts
