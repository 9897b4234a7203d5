"""What a model may look up in the run's knowledge before it answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from kernwright.core.brief import Brief
from kernwright.core.note import Note
from kernwright.core.ports import Knowledge

from .rendering import Looked

READ: Literal["READ"] = "READ"
SEARCH: Literal["SEARCH"] = "SEARCH"
FOUND = 8
"""Notes that a search names."""
LONGEST = 16_000
"""Characters of a note that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a model wants to look up."""

    kind: Literal["READ", "SEARCH"]
    what: str


def marked(text: str) -> Wish | None:
    """The wish that a reply is, where it begins with one; whatever follows that line does not count."""
    line = text.lstrip().partition("\n")[0].strip(" *`#")
    kind, _, what = line.partition(" ")
    what = what.strip(" *`:\"'")
    if kind.rstrip(":") == READ and what:
        return Wish(kind=READ, what=what)
    return Wish(kind=SEARCH, what=what) if kind.rstrip(":") == SEARCH and what else None


def seen(wish: Wish, knowledge: Knowledge, brief: Brief) -> Looked:
    """What is found; that there is nothing of this name, with what is near, where there is not."""
    asked = f"{wish.kind} {wish.what}"
    if wish.kind == SEARCH:
        found = knowledge.recall((brief.target, *brief.languages), wish.what, FOUND)
        return Looked(asked=asked, text=_titles(found) or "Nothing was found.")
    note = knowledge.read(wish.what)
    if note is not None:
        return Looked(asked=asked, text=f"{note.title}\n\n{note.text}"[:LONGEST])
    near = knowledge.recall((brief.target, *brief.languages), wish.what.replace("/", " "), FOUND)
    first = get_close_matches(wish.what, [each.name for each in near], n=1)
    near = sorted(near, key=lambda each: each.name not in first)
    return Looked(asked=asked, text=f"There is no note of this name. Near to it:\n{_titles(near)}")


def _titles(notes: Sequence[Note]) -> str:
    return "\n".join(f"{note.name}: {note.title}" for note in notes)
