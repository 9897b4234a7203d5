"""Which notes stand: what agrees is counted, and of what contradicts itself the newer one wins and says so."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from kernwright.core.note import Learned, Note

from .vocabulary import EMPTY, canonical, words

LIFE = timedelta(days=180)
"""How long a learnt note is told after the last time that something spoke for it."""
ALIKE = 0.6
"""The likeness from which on two lessons are about one thing."""
OUTVOTED = 2
"""A learnt note is told no more once it was refuted so many times more often than confirmed."""
_AGAINST = frozenset("not no never slower worse avoid hurt hurts costs loses lost slows slowed fails failed".split())
_FOR = frozenset("faster better gain gains gained help helps helped pays wins won speeds always use works".split())


def standing(notes: Iterable[Note], today: str) -> Sequence[Note]:
    """Those that are neither expired, nor outvoted, nor contradicted by one that is as new or newer and stands for
    itself; of notes of one day that contradict each other the last by name."""
    every = {note.name: note for note in notes if not _over(note, today)}
    out: set[str] = set()
    for note in every.values():
        for other in (every[name] for name in note.supersedes if name in every and name != note.name):
            if other.date > note.date:
                out.add(note.name)
            elif other.date < note.date or other.name < note.name or not leads(other, note, every):
                out.add(other.name)
    return [note for note in every.values() if note.name not in out]


def merged(there: Collection[Note], new: Note) -> Sequence[Note]:
    """The notes that change when this one comes in, itself among them unless an older one says the same."""
    if new.learned is None:
        return [new]
    same = next((note for note in there if note.name == new.name), None)
    if same is not None:  # the same run told again
        return []
    alike = [note for note in there if note.learned is not None and _about_one_thing(note, note.learned, new)]
    for old in alike:
        if polarity(old) == polarity(new):
            return [_confirmed(old, new)]
    if not alike:
        return [new]
    newest = max(alike, key=lambda note: (note.date, note.name))
    if newest.date > new.date:
        return [_with_contrary(newest, new), new]
    for old in alike:
        new = _with_contrary(new, old)
    return [*map(_refuted, alike), new]


def until(day: str) -> str:
    """When a note expires for which something spoke on this day."""
    return (date.fromisoformat(day) + LIFE).isoformat()


def leads(note: Note, to: Note, every: Mapping[str, Note]) -> bool:
    """Whether one of `every` supersedes another, if by way of others."""
    seen, ahead = {note.name}, [note]
    while ahead:
        for name in ahead.pop().supersedes:
            if name == to.name:
                return True
            if name in every and name not in seen:
                seen.add(name)
                ahead.append(every[name])
    return False


def expired(note: Note, today: str) -> bool:
    """Whether its last day is over."""
    return bool(note.expires and note.expires < today)


def likeness(a: str, b: str) -> float:
    """Share of the words that two texts have in common, of all that either has, whether they speak for it or against
    it; 0 where their numbers differ."""
    first, second = _content(a), _content(b)
    if any(word.isdigit() for word in first ^ second):
        return 0.0
    return len(first & second) / len(first | second) if first or second else 1.0


def polarity(note: Note) -> bool:
    """Whether a lesson speaks for what it is about: by what was measured, else by its words."""
    if note.learned is not None and note.learned.effect:
        return note.learned.effect > 0
    return not _AGAINST & set(words(_lesson(note)))


def _over(note: Note, today: str) -> bool:
    learned = note.learned
    outvoted = learned is not None and learned.refuted >= learned.confirmed + OUTVOTED
    return outvoted or expired(note, today)


def _about_one_thing(old: Note, learned: Learned, new: Note) -> bool:
    assert new.learned is not None
    if learned.kind != new.learned.kind:
        return False
    if learned.signature or new.learned.signature:
        return learned.signature == new.learned.signature and learned.problem == new.learned.problem
    if not set(map(canonical, old.tags)) & set(map(canonical, new.tags)):
        return False
    return set(old.applies_to) & set(new.applies_to) != set() and likeness(_lesson(old), _lesson(new)) >= ALIKE


def _lesson(note: Note) -> str:
    """What a learnt note says, without where it is from."""
    return note.text.partition("\n\n")[0]


def _confirmed(old: Note, new: Note) -> Note:
    assert old.learned is not None
    assert new.learned is not None
    learned = replace(
        old.learned,
        confirmed=old.learned.confirmed + 1 + new.learned.confirmed,
        refuted=old.learned.refuted + new.learned.refuted,
    )
    newest = max(old.date, new.date)
    return replace(old, learned=learned, date=newest, expires=max(old.expires, until(newest)))


def _refuted(note: Note) -> Note:
    assert note.learned is not None
    return replace(note, learned=replace(note.learned, refuted=note.learned.refuted + 1))


def _with_contrary(winner: Note, loser: Note) -> Note:
    said = f"This contradicts what was noted on {loser.date} ({loser.name}: {_lesson(loser)[:200]}); the newer holds."
    return replace(
        winner,
        supersedes=tuple(dict.fromkeys((*winner.supersedes, loser.name))),
        text=f"{winner.text}\n\n{said}",
    )


def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if word not in EMPTY and word not in _AGAINST | _FOR)
