"""Reusable lessons: the documents of knowledge packs, and what runs have learnt."""

from dataclasses import dataclass
from typing import Literal

Lesson = Literal["insight", "failure", "repair"]
"""What a learnt note says: what made a kernel faster or slower, what failed and why, how a failure was mended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """Where a note is from that nobody wrote as a document, and how it has fared since."""

    kind: Lesson
    run: str
    node: int
    problem: str
    """Name of the problem."""
    target: str
    author: str = ""
    effect: float = 0.0
    """Of an insight: log of how much faster it made the kernel, below 0 where it made it slower."""
    signature: str = ""
    """Of a failure or repair: what equal errors have in common."""
    confirmed: int = 0
    refuted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One lesson with its evidence. It is data: it can advise whoever writes a candidate, and nothing else."""

    name: str
    """Its place in its pack, such as `guidance/row-reductions`."""
    title: str
    text: str
    """Markdown."""
    tags: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ("any",)
    """Languages, platforms and targets; `any` for all."""
    bottlenecks: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    """Situations that call for it, in the words of whoever is in them: of tools, judges, profilers, problems."""
    source: tuple[str, ...] = ()
    date: str = ""
    """ISO, of a day."""
    evidence: str = ""
    pack: str = ""
    """Name of the folder that it is from."""
    supersedes: tuple[str, ...] = ()
    """Names of older notes that it contradicts, and stands in place of."""
    expires: str = ""
    """The last day on which it is told; empty where it does not age."""
    learned: Learned | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """A folder of notes that a run was given."""

    path: str
    digest: str
    """Of what it held then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackCopy:
    """A pack as it was."""

    name: str
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """All that a run may be told, frozen when it began."""

    packs: tuple[str, ...] = ()
    """Blobs of `PackCopy`; notes of a later one stand in place of an earlier one's of the same name."""
    day: str = ""
    """On which it was frozen: what had expired by then is not told."""
    first: tuple[str, ...] = ()
    """Names of packs that a person gave: what they say a target demands comes before all else."""
    skipped: tuple[str, ...] = ()
    """Sentences about files that are no notes."""
    index: str = ""
    """Blob of the notes' index as `Library.image` gives it; without it the index is made when a brief is."""
