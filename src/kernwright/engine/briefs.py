"""What an operator is told for one node."""

import random

from kernwright.core.brief import Brief, Earlier
from kernwright.core.errors import MachineFault

from .journal import Journal


def brief_of(journal: Journal, node: int) -> Brief:
    """The same for the same journal, so that it can be asked for again.

    Raises:
        MachineFault: the policy picked a parent that has no candidate.
    """
    graph, spec = journal.graph, journal.spec
    pick = graph.node(node).pick
    return Brief(
        run=journal.run,
        node=node,
        intent=pick.intent,
        problem=journal.problem,
        target=spec.target,
        parents=tuple(_earlier(journal, parent, node) for parent in pick.parents),
        seed=random.Random(f"{spec.seed}:brief:{node}").getrandbits(31),
    )


def _earlier(journal: Journal, parent: int, child: int) -> Earlier:
    nodes = journal.graph.nodes
    blob = nodes[parent].candidate if 0 <= parent < child else None
    if blob is None:
        raise MachineFault(f"policy {journal.spec.policy!r} picked node {parent}, which has no candidate, as a parent")
    return Earlier(node=parent, candidate=journal.candidate(blob), evaluation=nodes[parent].evaluation)
