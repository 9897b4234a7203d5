"""What of the notes is told, within a budget of tokens."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from kernwright.core.brief import Passage, Title
from kernwright.core.guidance import BYTES_PER_TOKEN
from kernwright.core.note import Note

from .library import Library
from .situations import Situation
from .vocabulary import applies, scope

CANDIDATES = 16
"""Notes that are looked through for what fits."""
TITLES = 24
"""Further notes that are named, to be asked for."""
CONSTRAINTS = "constraints"
CUT = "\n[...]"


def told(
    library: Library, situation: Situation, tokens: int, first: Sequence[str] = ()
) -> tuple[tuple[Passage, ...], tuple[Title, ...]]:
    """Passages that fit into so many tokens, the weightiest first, and titles of what would come next.

    What the packs named in `first` say that this target or language demands comes before all else, in half of the
    budget at most: nobody can know that from anywhere else.
    """
    demanded = _demanded(library, situation, frozenset(first)) if first else []
    found = library.recall(situation.tags, situation.text, CANDIDATES + TITLES)
    budget = tokens * BYTES_PER_TOKEN
    head = list(_fitting(demanded, budget // 2))
    left = budget - sum(passage.size for passage in head)
    taken = {passage.name for passage in head}
    rest = [note for note in found if note.name not in taken]
    passages = [*head, *_fitting(rest[:CANDIDATES], left)]
    taken = {passage.name for passage in passages}
    others = chain(demanded, rest)
    titles = dict.fromkeys(Title(name=n.name, title=n.title) for n in others if n.name not in taken)
    return tuple(passages), tuple(titles)[:TITLES]


def passage_of(note: Note, text: str = "") -> Passage:
    """A note as it is told; a shorter `text` in place of its own."""
    return Passage(title=note.title, text=text or note.text, name=note.name, origin=origin_of(note))


def origin_of(note: Note) -> str:
    """Where it is from, in a line: date, evidence, how it has fared."""
    parts = [note.date, note.evidence]
    if (learned := note.learned) is not None and (learned.confirmed or learned.refuted):
        parts.append(f"confirmed {learned.confirmed} times, refuted {learned.refuted} times")
    return "; ".join(filter(None, parts))


def _demanded(library: Library, situation: Situation, first: frozenset[str]) -> list[Note]:
    there = scope(situation.target, situation.languages)
    return [
        note
        for note in library.told()
        if note.pack in first and CONSTRAINTS in note.name.split("/")[:-1] and applies(note.applies_to, there)
    ]


def _fitting(notes: Iterable[Note], budget: int) -> Iterator[Passage]:
    """Whole notes; the first is cut where it alone is too long."""
    left = budget
    for number, note in enumerate(notes):
        passage = passage_of(note)
        over = passage.size - left
        if over > 0 and number == 0 and (text := _cut(note.text, len(note.text.encode()) - over)):
            passage = passage_of(note, text)
            over = passage.size - left
        if over <= 0:
            left = -over
            yield passage


def _cut(text: str, size: int) -> str:
    """As many of its lines as there is room for; empty where that is none."""
    kept: list[str] = []
    left = size - len(CUT.encode())
    for line in text.split("\n"):
        left -= len(line.encode()) + 1
        if left < 0:
            break
        kept.append(line)
    return "\n".join(kept).rstrip() + CUT if any(kept) else ""
