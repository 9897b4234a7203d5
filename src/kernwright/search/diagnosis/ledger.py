"""What writers of candidates expected, against what was seen: one line for each idea."""

from collections.abc import Sequence
from dataclasses import dataclass

from kernwright.core.brief import Proposed
from kernwright.core.expectation import MOST, Seen, expectation_of, seen_of
from kernwright.core.graph import Node

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
    before, after = figures_of(parent.profile, parent.evaluation), figures_of(node.profile, node.evaluation)
    return tuple(seen_of(expectation_of(text), before, after) for text in draft.expects[:MOST])


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
