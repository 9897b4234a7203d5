"""Knowledge outside a run: what commands and tools ask of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kernwright.core.diagnosis import Diagnosis
from kernwright.core.errors import UserError, unknown_name
from kernwright.core.guidance import BYTES_PER_TOKEN
from kernwright.core.note import Note
from kernwright.core.problem import Problem
from kernwright.knowledge.documents import parsed
from kernwright.knowledge.folders import Found, check, read, read_built_in, shown, text_of, write, write_indexes
from kernwright.knowledge.library import Library
from kernwright.knowledge.lint import Finding, indexes
from kernwright.knowledge.lint import lint as lint_pack
from kernwright.knowledge.situations import Situation
from kernwright.knowledge.vocabulary import BOTTLENECKS, FOLDERS, is_tag, spoken
from kernwright.store.disk import writing

from . import service, targets
from .journal import Journal
from .learning import locked
from .shelves import OWN, gathered, of_home
from .written import languages_for


@dataclass(frozen=True, slots=True)
class Known:
    """Notes to be searched."""

    library: Library
    skipped: tuple[str, ...] = ()
    """Sentences about files that are no notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a person or an agent wants to know."""

    words: str = ""
    tags: tuple[str, ...] = ()
    """The weightiest first."""
    target: str = ""
    language: str = ""
    problem: Problem | None = None


def here(home: Path, folders: Sequence[str | Path] = (), *, built_in: bool = True) -> Known:
    """What comes with Kernwright unless that is to be left out, what this home has, and these folders.

    Raises:
        UserError: a folder is not there, holds no notes, or is named twice.
    """
    found = gathered(home, folders, built_in=built_in)
    return Known(Library(found.notes), tuple(map(str, found.faults)))


def of_run(home: Path, run: str) -> Known:
    """What a run is told, as it was when it began.

    Raises:
        UserError: there is no such run.
    """
    with service.opened(home) as store:
        journal = Journal(store, store.resolve_run(run))
        return Known(journal.library or Library(()), journal.shelf.skipped)


def search(known: Known, asked: Asked, count: int) -> Sequence[tuple[float, Note]]:
    """The notes that say most, with their scores.

    Raises:
        UserError: nothing is asked for.
    """
    if not (asked.words.strip() or asked.tags or asked.problem):
        raise UserError("Say what to search for: words, --tag or --problem.")
    target = _target(asked.target)
    own = (spoken(asked.language),) if asked.language else ()
    languages = own or (languages_for(target) if target else ())
    tags, text = (*asked.tags, *own, target, *languages), asked.words
    if asked.problem is not None:
        classes = tuple(tag for tag in asked.tags if tag in BOTTLENECKS)
        situation = Situation(
            problem=asked.problem,
            target=target,
            language=own[0] if own else "",
            languages=languages,
            diagnosis=Diagnosis(bottlenecks=classes),
            said=asked.words,
        )
        tags, text = (*asked.tags, *situation.tags), situation.text
    return known.library.scored([tag for tag in dict.fromkeys(tags) if tag], text, count)


def about(home: Path, problem: Problem, target: str, language: str, diagnosis: Diagnosis, count: int) -> Sequence[Note]:
    """What is known here about what limits a kernel in this language."""
    situation = Situation(
        problem=problem,
        target=target,
        language=spoken(language),
        languages=(spoken(language),),
        diagnosis=diagnosis,
    )
    return here(home).library.recall(situation.tags, situation.text, count)


def show(known: Known, name: str) -> Note:
    """The note of this name, without its folder where no other has it; raises UserError where there is none."""
    names = [note.name for note in known.library.notes]
    alike = [each for each in names if Path(each).name == Path(name).stem]
    note = known.library.read(alike[0] if "/" not in name and len(alike) == 1 else name)
    if note is None:
        near = alike or names
        raise unknown_name("note", name, near if len(near) < 30 else _nearest(name, near))
    return note


def add(home: Path, files: Sequence[Path], folder: str, *, force: bool = False) -> Sequence[tuple[Note, Path]]:
    """Keep these notes in the home, all or none.

    Raises:
        UserError: a file is no note or cannot be read, the folder is none of a pack, or a note of the name is there.
    """
    if folder not in FOLDERS:
        raise unknown_name("folder of a pack", folder, FOLDERS)
    notes = [_from_file(path, folder) for path in files]
    names = [note.name for note in notes]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UserError(f"Two of the files would be the note {twice!r}; rename one.")
    with locked(home) as root:
        there = next((note for note in notes if (root / f"{note.name}.md").exists()), None)
        if there is not None and not force:
            raise UserError(f"There is a note {there.name!r} already; --force replaces it.")
        return [(note, write(root, note)) for note in notes]


def lint(home: Path, folders: Sequence[Path], *, write_index: bool) -> tuple[Sequence[Found], Sequence[Finding]]:
    """Packs and what is amiss in them: of these folders, else of what comes with Kernwright and the home's.

    Raises:
        UserError: a folder is not there or holds no notes, or an index cannot be written or is a link.
    """
    own = of_home(home)
    packs = [read(folder) for folder in folders] or [read_built_in(), *([own] if own.notes or own.faults else [])]
    for pack in packs if write_index else ():
        with writing(pack.folder):
            write_indexes(pack.folder, list(indexes(pack)))
    findings: list[Finding] = []
    for pack in packs:
        others = [note for other in packs if other is not pack for note in other.notes]
        findings += [f for f in lint_pack(pack, others) if not (pack.name == OWN and "INDEX" in f.where)]
    return packs, findings


def stats(known: Known) -> dict[str, Any]:
    """Counts, as plain values."""
    notes, told = known.library.notes, known.library.told()
    learnt = [note.learned for note in notes if note.learned is not None]
    names = {note.name for note in told}
    return {
        "notes": len(notes),
        "told": len(told),
        "tokens": sum(len(note.text.encode()) for note in told) // BYTES_PER_TOKEN,
        "packs": dict(Counter(note.pack for note in notes)),
        "folders": dict(Counter(note.name.rpartition("/")[0] for note in notes)),
        "applies_to": dict(Counter(word for note in notes for word in note.applies_to)),
        "bottlenecks": dict(Counter(each for note in notes for each in note.bottlenecks)),
        "learnt": {
            **{kind: sum(each.kind == kind for each in learnt) for kind in ("insight", "failure", "repair")},
            "confirmed": sum(each.confirmed for each in learnt),
            "refuted": sum(each.refuted for each in learnt),
            "not told any more": sum(note.learned is not None and note.name not in names for note in notes),
        },
        "skipped": known.skipped,
    }


def _target(name: str) -> str:
    """A platform's own name stands for the first of its targets, here or anywhere."""
    found = () if ":" in name or not name else (*targets.here(), *targets.known())
    return next((target for target in found if target.startswith(f"{name}:")), name)


def _from_file(path: Path, folder: str) -> Note:
    if not is_tag(path.stem):
        raise UserError(f"The file {path.name!r} should be called in small words with hyphens, such as row-sums.md.")
    where = shown(path)
    note = replace(parsed(text_of(path), f"{folder}/{path.stem}", where), learned=None)
    check(note, where)
    return note


def _nearest(name: str, names: Sequence[str]) -> Sequence[str]:
    parts = set(name.replace("/", "-").split("-"))
    return sorted(names, key=lambda each: -len(parts & set(each.replace("/", "-").split("-"))))[:10]
