"""What an operator is told for one node: what the guidance asks for, taken from the journal as it stands."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kernwright.core.brief import Brief, Earlier, Insight, Proposed, Recalled, Remarked, Unusable
from kernwright.core.errors import MachineFault
from kernwright.core.graph import speedup_of
from kernwright.core.guidance import MemoryMode
from kernwright.core.node import Node
from kernwright.core.outcome import timings_of
from kernwright.core.profile import changes
from kernwright.knowledge.failures import plain, signature_of
from kernwright.search.diagnosis import alike, figures_of
from kernwright.search.operators.profile_lines import changes_of, told_of

from .journal import Journal
from .recalling import diagnosis_of, knowledge_of, mended_for
from .written import languages_for

TRAIL = 8
"""Ancestors, and siblings, that are recalled at most."""
LATELY = 200
"""Nodes among which failures are looked for."""
MODES: tuple[MemoryMode, ...] = ("none", "parent", "siblings", "both")


def brief_of(journal: Journal, node: int) -> Brief:
    """The same for the same journal, so that it can be asked for again.

    Raises:
        MachineFault: the policy picked a parent that has no candidate.
    """
    graph, spec = journal.graph, journal.spec
    pick, guidance = graph.node(node).pick, spec.guidance
    seed = random.Random(f"{spec.seed}:brief:{node}").getrandbits(31)
    # What a search begins with is independent of what else it begins with: several make one start.
    fresh = pick.intent == "start" and not pick.parents and not pick.variant
    best = graph.best() if guidance.best != "none" and not fresh else None
    shown = {*pick.parents, *([best.id] if best else [])}
    languages = languages_for(spec.target, spec.languages)
    knowledge, further = knowledge_of(journal, graph.node(node), languages, guidance)
    return Brief(
        run=journal.run,
        node=node,
        intent=pick.intent,
        problem=journal.problem,
        target=spec.target,
        parents=tuple(_parent(journal, parent, node) for parent in pick.parents),
        seed=seed,
        variant=pick.variant,
        guidance=guidance,
        languages=languages,
        best=_earlier(journal, best) if best else None,
        elite=tuple(_elite(journal, shown, 0 if fresh else guidance.elite)),
        insights=tuple(_insights(journal, 0 if fresh else guidance.insights)),
        diagnosis=_diagnosis(journal, pick.parents) if guidance.diagnosis else "",
        bottlenecks=_bottlenecks(journal, pick.parents) if guidance.diagnosis else (),
        counted=_counted(journal, pick.parents) if guidance.diagnosis else (),
        knowledge=knowledge,
        further=further,
        mended=mended_for(journal, graph.node(node), guidance.mended if pick.memory else 0),
        memory=_memory(journal, node, seed),
        failures=_failures(journal, guidance.failures if pick.memory else 0, pick.parents),
        hints=tuple(graph.hints),
        after=graph.seq,
    )


def _parent(journal: Journal, parent: int, child: int) -> Earlier:
    nodes = journal.graph.nodes
    if not 0 <= parent < child or nodes[parent].candidate is None:
        raise MachineFault(f"policy {journal.spec.policy!r} picked node {parent}, which has no candidate, as a parent")
    return _earlier(journal, nodes[parent])


def _earlier(journal: Journal, node: Node) -> Earlier:
    draft = node.draft
    assert isinstance(draft, Proposed)
    return Earlier(
        node=node.id,
        candidate=journal.candidate(draft.candidate),
        evaluation=node.evaluation,
        summary=draft.summary,
        approach=draft.approach,
        profile=node.profile if journal.spec.guidance.profile else None,
    )


def _diagnosis(journal: Journal, parents: Sequence[int]) -> str:
    """Of the first parent, with what differs from its own; why a parent failed stands with its errors."""
    nodes = journal.graph.nodes
    node = nodes[parents[0]] if parents else None
    if node is None or node.diagnosis is None:
        return ""
    text, before = node.diagnosis.text, nodes[node.pick.parents[0]] if node.pick.parents else None
    if before is None or before.profile is None:
        return text
    old, new = alike(before, node)
    told = changes_of(changes(figures_of(before.profile, old), figures_of(node.profile, new)))
    return f"{text}\nagainst solution {before.id}, which it came from: {told}" if told else text


def _bottlenecks(journal: Journal, parents: Sequence[int]) -> tuple[str, ...]:
    found = diagnosis_of(journal.graph.nodes[parents[0]]) if parents else None
    return found.bottlenecks if found is not None else ()


def _counted(journal: Journal, parents: Sequence[int]) -> tuple[str, ...]:
    if not parents:
        return ()
    node = journal.graph.nodes[parents[0]]
    return tuple(told_of(figures_of(node.profile, node.evaluation)))


def _elite(journal: Journal, shown: set[int], count: int) -> Iterator[Earlier]:
    """The best that are not shown as parents or as the best already; each candidate once."""
    if not count:
        return
    nodes = journal.graph.nodes
    seen = {nodes[n].candidate for n in shown}
    for node in journal.graph.ranked(4 * (count + len(shown))):
        if node.candidate not in seen:
            seen.add(node.candidate)
            yield _earlier(journal, node)
            if len(seen) - len(shown) >= count:
                return


def _insights(journal: Journal, count: int) -> Iterator[Insight]:
    """The newest of proposals that came to an end, oldest of them first."""
    found: list[Insight] = []
    said: set[str] = set()
    for node in reversed(journal.graph.nodes) if count else ():
        if node.evaluation is None or not isinstance(node.draft, Proposed):
            continue
        for text in node.draft.insights:
            if text not in said and len(found) < count:
                said.add(text)
                found.append(Insight(node=node.id, text=text, speedup=speedup_of(node)))
        if len(found) >= count:
            break
    yield from reversed(found)


def _memory(journal: Journal, number: int, seed: int) -> tuple[Recalled, ...]:
    """Of the first parent's line and its other children; nothing for who has no parent."""
    graph, guidance, pick = journal.graph, journal.spec.guidance, journal.graph.node(number).pick
    if guidance.memory == "none" or not pick.memory or not pick.parents:
        return ()
    rng = random.Random(f"memory:{seed}")
    if rng.random() >= guidance.memory_rate:
        return ()
    mode = guidance.memory if pick.memory is True else pick.memory
    if mode == "drawn":
        mode = rng.choice(MODES)
    found: dict[int, Node] = {}
    if mode in ("parent", "both"):
        at: int | None = pick.parents[0]
        while at is not None and len(found) < TRAIL:
            found[at] = graph.nodes[at]
            at = next(iter(graph.nodes[at].pick.parents), None)
    if mode in ("siblings", "both"):
        ended = [graph.nodes[n] for n in graph.children(pick.parents[0]) if n != number and _ended(graph.nodes[n])]
        found |= {node.id: node for node in ended[-TRAIL:]}
    return tuple(_recalled(node) for _, node in sorted(found.items()) if _ended(node))


def _failures(journal: Journal, count: int, parents: Sequence[int]) -> tuple[Recalled, ...]:
    """The latest of each kind of error, so that one that keeps coming does not hide the others. Kinds that the first
    parent, or what was made of it, ended in come before others where not all are told."""
    nodes, first = journal.graph.nodes, parents[:1]
    found: dict[str, Recalled] = {}
    near: set[str] = set()
    for node in reversed(nodes[-LATELY:]) if count else ():
        if node.pick.intent == "tune" or not (signature := _signature(node)):
            continue
        if signature in found:
            found[signature] = replace(found[signature], times=found[signature].times + 1)
        else:
            found[signature] = _recalled(node)
        if node.id in first or (first and node.pick.parents[:1] == first):
            near.add(signature)
    told = sorted(found, key=lambda signature: signature not in near)[:count]
    return tuple(sorted((found[signature] for signature in told), key=lambda recalled: recalled.node))


def _signature(node: Node) -> str:
    if isinstance(node.draft, Unusable):
        return f"unusable {plain(node.draft.reason)}"
    return signature_of(node.evaluation.outcome) if node.evaluation is not None else ""


def _ended(node: Node) -> bool:
    return isinstance(node.draft, Unusable) or (isinstance(node.draft, Proposed) and node.evaluation is not None)


def _recalled(node: Node) -> Recalled:
    draft, outcome = node.draft, node.evaluation.outcome if node.evaluation else None
    assert draft is None or isinstance(draft, Proposed | Unusable | Remarked)
    right = outcome is not None and timings_of(outcome) is not None
    reason = draft.reason if isinstance(draft, Unusable) else outcome.reason if outcome is not None else ""
    return Recalled(
        node=node.id,
        intent=node.pick.intent,
        summary=draft.summary if isinstance(draft, Proposed) else "",
        verdict=outcome.kind if outcome is not None else "unusable",
        reason="" if right else reason,
        speedup=speedup_of(node),
    )
