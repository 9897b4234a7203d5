"""What a run leaves behind when it ends: notes of its home, and how those that it was told have fared."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from kernwright.core.events import NoteLearned
from kernwright.core.node import Node
from kernwright.core.note import Note
from kernwright.knowledge.failures import failed, signature_of
from kernwright.knowledge.folders import write
from kernwright.knowledge.lessons import Taught, gain_of, lessons_of
from kernwright.knowledge.library import Library
from kernwright.store.disk import writing

from .journal import Journal
from .recalling import change, diagnosis_of
from .shelves import of_home, own_folder

LOCK = ".lock"


def learn(journal: Journal, home: Path, say: Callable[[str], None]) -> None:
    """Once a run that remembers has ended: keep its lessons, count for and against those that it was told."""
    graph = journal.graph
    if journal.spec.memory != "on" or graph.finished is None or (journal.spec.elsewhere and graph.in_flight()):
        return
    changed: dict[str, Note] = {}
    # Of a run that is judged elsewhere, nodes are judged after an ending.
    since = 0 if journal.spec.elsewhere or len(graph.endings) < 2 else graph.endings[-2]
    taught = Taught(
        run=journal.run,
        graph=graph,
        problem=journal.problem,
        target=journal.spec.target,
        day=date.today().isoformat(),
        since=since,
        candidate=journal.candidate,
        change=change,
        bottlenecks=_bottlenecks,
    )
    lessons = lessons_of(taught)
    fared = list(_fared(journal, since))
    if not lessons and not fared:
        return
    with locked(home) as folder:
        library = Library(of_home(home).notes, today=taught.day, keep=lambda note: changed.update({note.name: note}))
        for name, right in fared:
            library.count(name, confirmed=int(right), refuted=int(not right))
        for lesson in lessons:
            library.learn(lesson)
        for note in changed.values():
            write(folder, note)
    for note in changed.values():
        journal.write(NoteLearned(note=note))
    if changed:
        say(f"{len(changed)} notes of this run are kept for others; `kernwright knowledge stats` counts them.")


@contextmanager
def locked(home: Path) -> Iterator[Path]:
    """The folder of a home's notes, for one writer at a time.

    Raises:
        UserError: it cannot be written.
    """
    folder = own_folder(home)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield folder
        finally:
            os.close(descriptor)


def _bottlenecks(node: Node) -> tuple[str, ...]:
    found = diagnosis_of(node)
    return found.bottlenecks if found is not None else ()


def _fared(journal: Journal, since: int) -> Iterator[tuple[str, bool]]:
    """Learnt notes that a proposal was told, and whether it speaks for or against them; a failure says nothing of how
    fast something is."""
    graph, library = journal.graph, journal.library
    for number, names in graph.told.items():
        if number < since or library is None:
            continue
        node = graph.nodes[number]
        for name in names:
            note = library.read(name)
            if note is None or note.learned is None or node.evaluation is None:
                continue
            if note.learned.kind == "insight" and (gain := gain_of(graph, node)):
                yield name, gain > 0
            elif note.learned.kind == "repair":
                signature = signature_of(node.evaluation.outcome)
                if not failed(node.evaluation.outcome) or signature == note.learned.signature:
                    yield name, not signature
