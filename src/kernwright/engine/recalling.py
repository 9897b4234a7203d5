"""What is recalled for a brief: knowledge by diagnosis and problem, earlier repairs of the same error."""

import difflib
from collections.abc import Iterator

from kernwright.core.brief import Mended, Passage, Proposed, Title
from kernwright.core.candidate import Candidate
from kernwright.core.diagnosis import Diagnosis
from kernwright.core.guidance import Guidance
from kernwright.core.node import Node
from kernwright.core.note import Note
from kernwright.knowledge.failures import failed, signature_of
from kernwright.knowledge.library import Library
from kernwright.knowledge.passages import told
from kernwright.knowledge.situations import Situation
from kernwright.knowledge.vocabulary import spoken
from kernwright.search.diagnosis import diagnose

from .journal import Journal

LATELY = 500
"""Nodes among which repairs are looked for."""
LONGEST_CHANGE = 60
"""Lines of a repair's diff that are told."""


def situation_of(journal: Journal, node: Node, languages: tuple[str, ...]) -> Situation:
    """What is asked of knowledge for the brief of this node: of its first parent, or the best where it has none."""
    graph = journal.graph
    about = graph.nodes[node.pick.parents[0]] if node.pick.parents else None
    draft = about.draft if about is not None else None
    made = journal.candidate(draft.candidate) if isinstance(draft, Proposed) else None
    return Situation(
        problem=journal.problem,
        target=journal.spec.target,
        languages=tuple(map(spoken, languages)),
        language=spoken(made.language if made is not None else languages[0] if len(languages) == 1 else ""),
        diagnosis=diagnosis_of(about) if about is not None and journal.spec.guidance.diagnosis else None,
        outcome=about.evaluation.outcome if about is not None and about.evaluation is not None else None,
        said=f"{draft.summary} {draft.approach}" if isinstance(draft, Proposed) else "",
    )


def diagnosis_of(node: Node) -> Diagnosis | None:
    """What limits a node's kernel: of its profile, else what its verdict says of it."""
    return node.diagnosis or diagnose(node.profile, node.evaluation)


def knowledge_of(
    journal: Journal, node: Node, languages: tuple[str, ...], guidance: Guidance
) -> tuple[tuple[Passage, ...], tuple[Title, ...]]:
    """Passages within the guidance's budget, and titles of more."""
    library = journal.library
    if library is None or not guidance.retrieves(node.pick.intent, node.pick.variant):
        return (), ()
    return told(library, situation_of(journal, node, languages), guidance.knowledge_tokens, journal.shelf.first)


def mended_for(journal: Journal, node: Node, count: int) -> tuple[Mended, ...]:
    """Earlier repairs of the error of this node's first parent: of this run, the newest first, then of others."""
    graph = journal.graph
    if not count or not node.pick.parents:
        return ()
    about = graph.nodes[node.pick.parents[0]]
    signature = signature_of(about.evaluation.outcome) if about.evaluation is not None else ""
    if not signature:
        return ()
    found: list[Mended] = []
    for broken, right in repairs(journal):
        assert broken.evaluation is not None
        if broken.id != about.id and signature_of(broken.evaluation.outcome) == signature:
            found.append(_mended(journal, broken, right))
        if len(found) == count:
            return tuple(found)
    notes = (
        note for note in _repairs_of_others(journal.library) if note.learned and note.learned.signature == signature
    )
    found += [_from_note(note) for note in notes]
    return tuple(found[:count])


def repairs(journal: Journal) -> Iterator[tuple[Node, Node]]:
    """Failures with a child that was right, the newest such child first."""
    nodes = journal.graph.nodes
    for node in reversed(nodes[-LATELY:]):
        if node.evaluation is None or failed(node.evaluation.outcome) or not node.pick.parents:
            continue
        parent = nodes[node.pick.parents[0]]
        if parent.evaluation is not None and failed(parent.evaluation.outcome):
            yield parent, node


def change(before: Candidate, after: Candidate) -> str:
    """The beginning of the difference between two candidates."""
    texts = {file.name: file.text for file in before.files}
    lines: list[str] = []
    for file in after.files:
        old = texts.get(file.name) or (before.main.text if file is after.main else "")
        lines += list(difflib.unified_diff(old.splitlines(), file.text.splitlines(), lineterm="", n=1))[2:]
    more = [f"[{len(lines) - LONGEST_CHANGE} more lines]"] if len(lines) > LONGEST_CHANGE else []
    return "\n".join([*lines[:LONGEST_CHANGE], *more])


def _mended(journal: Journal, broken: Node, right: Node) -> Mended:
    assert broken.evaluation is not None
    assert isinstance(broken.draft, Proposed)
    assert isinstance(right.draft, Proposed)
    before, after = journal.candidate(broken.draft.candidate), journal.candidate(right.draft.candidate)
    return Mended(
        node=right.id,
        reason=broken.evaluation.outcome.reason,
        approach=right.draft.approach or right.draft.summary,
        change=change(before, after),
    )


def _repairs_of_others(library: Library | None) -> Iterator[Note]:
    for note in library.told() if library is not None else ():
        if note.learned is not None and note.learned.kind == "repair":
            yield note


def _from_note(note: Note) -> Mended:
    assert note.learned is not None
    origin = note.learned
    return Mended(node=origin.node, run=origin.run, reason=note.title, approach=note.text, name=note.name)
