"""What is amiss in a pack: files that are no notes, and notes that will not be found, believed or read."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from kernwright.core.note import Note

from .folders import INDEX, Found, files, name_of, shown
from .merging import expired, leads
from .vocabulary import ANY, canonical, is_tag, words

SHORTEST, LONGEST = 15, 70
"""Lines of a note that somebody wrote."""
KNOWN_PLACES = frozenset(
    {ANY, "cpu", "cuda", "rocm", "hip", "opencl", "nvidia", "amd", "triton", "cpp", "torch", "cutedsl", "numba"}
)
_ORDERS = re.compile(
    r"\b(ignore|disregard|forget) (all|any|the|your|every|previous|prior|above)\b|\bsystem prompt\b|\byou are now\b"
    r"|\bdo not (tell|mention|reveal)\b"
    r"|\b(raise|change|set|override|disable|skip) the (tolerance|budget|rules?|judge)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing amiss."""

    where: str
    line: int
    said: str
    level: Literal["error", "advice"] = "error"
    """Of an error the note is left out, or not what it should be; advice is about one that counts."""


def lint(found: Found, others: Sequence[Note] = (), today: str = "") -> Sequence[Finding]:
    """Of a pack; `others` are notes of other packs that it may supersede, `today` is the day on which notes may have
    expired."""
    root = f"{shown(found.folder)}/"
    findings = [
        Finding(where=fault.where.removeprefix(root), line=fault.line, said=fault.said) for fault in found.faults
    ]
    by_title: dict[str, list[Note]] = defaultdict(list)
    known = {note.name: note for note in (*others, *found.notes)}
    places = KNOWN_PLACES | _introduced(found.notes)
    day = today or date.today().isoformat()
    for note in found.notes:
        by_title[note.title.lower()].append(note)
        findings += [_advice(found, note, said) for said in _superseding(note, known, day)]
        findings += _note(found, note, places)
    for same in by_title.values():
        findings += [_advice(found, note, f"{same[0].name} has the same title.") for note in same[1:]]
    return [*findings, *_indexes(found)]


def index_of(folder: str, notes: Sequence[Note]) -> str:
    """The text of a folder's index: a line for each of its notes."""
    lines = [f"# {folder or 'Notes'}", ""]
    for note in sorted(notes, key=lambda note: note.name):
        about = "; ".join(filter(None, (", ".join(note.applies_to), ", ".join(note.bottlenecks))))
        lines.append(f"* [{_plain(note.title)}]({Path(note.name).name}.md) ({about}): {', '.join(note.tags)}")
    return "\n".join(lines) + "\n"


def indexes(found: Found) -> Iterator[tuple[Path, str]]:
    """Path and text of the index of each folder that holds notes."""
    by_folder: dict[str, list[Note]] = defaultdict(list)
    for note in found.notes:
        by_folder[Path(note.name).parent.as_posix()].append(note)
    for folder, notes in sorted(by_folder.items()):
        plain = "" if folder == "." else folder
        yield found.folder / plain / INDEX, index_of(plain, notes)


def _introduced(notes: Sequence[Note]) -> frozenset[str]:
    """Languages and platforms that a pack teaches: its constraints and a note on the thing itself are about them."""
    words: dict[str, set[str]] = defaultdict(set)
    for note in notes:
        words[note.name.partition("/")[0]].update(note.applies_to)
    return frozenset(words["constraints"] & (words["languages"] | words["platforms"]))


def _superseding(note: Note, known: Mapping[str, Note], day: str) -> Iterator[str]:
    for name in note.supersedes:
        other = known.get(name)
        if name == note.name:
            yield "it supersedes itself, which says nothing; name an older note, or none."
        elif other is None:
            yield f"it supersedes {name!r}, and there is no such note."
        elif leads(other, note, known):
            yield f"it supersedes {name}, which supersedes it in turn; leave that to the newer of them."
        elif other.date > note.date:
            yield f"it supersedes {name}, which is newer ({other.date}), so that one is told in its place."
        elif expired(note, day) and not expired(other, day):
            yield f"it supersedes {name} and has expired ({note.expires}), so that one is told again."


def _note(found: Found, note: Note, places: frozenset[str]) -> Iterator[Finding]:
    lines = len(note.text.splitlines())
    if note.learned is None and not SHORTEST <= lines <= LONGEST:
        yield _advice(found, note, f"the text has {lines} lines; {SHORTEST} to {LONGEST} were expected.")
    for word in note.applies_to:
        if word not in places and ":" not in word:
            yield _advice(found, note, f"it applies to {word!r}, which no language or platform here is called.")
    own = set(map(canonical, words(" ".join((note.title, *note.tags)))))
    for phrase in note.when:
        if own.issuperset(map(canonical, words(phrase))):
            yield _advice(found, note, f"when says {phrase!r}, whose words are all in the title and tags already.")
    told = (note.text, note.title, note.evidence, *note.source, *note.when)
    if orders := next(filter(None, map(_ORDERS.search, told)), None):
        yield _advice(found, note, f"{orders[0]!r} reads like an order; notes are told as data, so say what is so.")
    if not all(map(is_tag, note.name.split("/"))):
        yield _advice(found, note, f"the name {note.name!r} should be of small words with hyphens.")


def _indexes(found: Found) -> Iterator[Finding]:
    for path, text in indexes(found):
        if not _holds(path, text.encode()):
            yield Finding(
                where=shown(path.relative_to(found.folder)),
                line=1,
                said="the index is not of these notes; write it with: kernwright knowledge lint --write-index",
                level="advice",
            )
    there = {name_of(found.folder, path) for path in files(found.folder)}
    for path in sorted(found.folder.rglob(INDEX)):
        folder = path.parent.relative_to(found.folder).as_posix()
        if not any(Path(name).parent.as_posix() == folder for name in there):
            yield Finding(
                where=shown(path.relative_to(found.folder)), line=1, said="no notes are here.", level="advice"
            )


def _holds(path: Path, wanted: bytes) -> bool:
    """Whether a file is this; what is a link or no file is not opened, as it may lead anywhere, or wait for ever."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size != len(wanted):
            return False
        return path.read_bytes() == wanted
    except OSError:
        return False


def _advice(found: Found, note: Note, said: str) -> Finding:
    return Finding(where=f"{note.name}.md", line=1, said=said, level="advice")


def _plain(title: str) -> str:
    return title.replace("[", "(").replace("]", ")")
