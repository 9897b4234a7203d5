"""What connects a note with a question: numbers by name. `weights.json` says what each is worth, learnt from labelled
situations by `benchmarks/knowledge_weights.py`. None is about a single note, so notes of any pack have them."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from kernwright.core.note import Note

from .asking import Asked
from .vocabulary import ANY, OPERATORS, SHARED, applies, canonical, known_as

WEIGHTS: Mapping[str, float] = json.loads(
    resources.files(__package__).joinpath("weights.json").read_text(encoding="utf-8")
)
IN_A_LANGUAGE = frozenset({"languages", "samples"})
DTYPES = frozenset(map(canonical, ("float16", "bfloat16", "float8", "int8", "float64")))


@dataclass(frozen=True, slots=True)
class Fact:
    """A note as questions meet it."""

    note: Note
    folder: str
    tags: frozenset[str]
    """Canonical."""
    limits: frozenset[str]
    places: frozenset[str]


def fact_of(note: Note) -> Fact:
    """What is asked of a note again and again."""
    return Fact(
        note,
        note.name.partition("/")[0],
        frozenset(map(canonical, note.tags)),
        frozenset(note.bottlenecks),
        frozenset(note.applies_to),
    )


def weighed(signals: Mapping[str, float]) -> float:
    """How much a note says, as far as it can be told from these."""
    return sum(WEIGHTS.get(name, 0.0) * value for name, value in signals.items())


def connecting(fact: Fact, asked: Asked, scarce: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """What a note has to do with a question, words aside; nothing where that is nothing.

    `scarce` says of languages, platforms and targets how few notes are about them.
    """
    for rank, each in enumerate(asked.bottlenecks):
        if each in fact.limits:
            # A note about half of all bottlenecks is about none of them.
            yield ("dominant" if rank == 0 else "further"), 1 / math.sqrt(len(fact.limits))
    if shared := fact.tags & asked.tags.keys():
        yield f"tags:{asked.intent}", _worth(shared, asked)
        yield "tags:covered", len(shared) / len(fact.tags)
        yield "tags:operators", _worth(shared & OPERATORS, asked)
        yield "tags:dtypes", _worth(shared & DTYPES, asked)
    if places := fact.places & asked.near:
        # The two notes on a rare language come, a hundred on a common one do not.
        yield f"near:{asked.intent}", min(scarce.get(place, 0.0) for place in places)


def standing(fact: Fact, asked: Asked) -> Iterator[tuple[str, float]]:
    """What speaks for or against any note of its kind, whatever it says."""
    yield f"{asked.intent}:{fact.folder}", 1.0
    about = fact.tags & OPERATORS
    if asked.operators and about and not about & asked.operators:
        yield f"elsewhere:{asked.intent}", 1.0
    if any(":" in place and applies((place,), known_as(asked.target)) for place in fact.places):
        yield f"target:{asked.intent}", 1.0
    if fact.places.isdisjoint((ANY, *asked.scope)) and not applies(fact.places, asked.scope):
        yield ("sister" if fact.places & asked.sisters else "nearest"), 1.0
    if ANY in fact.places:
        yield "anywhere", 1.0
    elif asked.written and fact.folder in IN_A_LANGUAGE and not asked.written & fact.places:
        yield "foreign", 1.0
    if asked.own & fact.places:
        yield f"own:{asked.intent}", 1.0


def _worth(tags: Iterable[str], asked: Asked) -> float:
    return min(1.0, sum(asked.tags[tag] for tag in tags))


def within(facts: Sequence[Fact], asked: Asked) -> list[int]:
    """Places of the notes that apply, those on sisters of the languages among them.

    Of a device that no note is about, those on other devices of its platform come too: they are the nearest there is.
    """
    platform = asked.target.partition(":")[0] + ":"
    told = [i for i, fact in enumerate(facts) if applies(fact.places, asked.scope)]
    there = set(told)
    there.update(i for i, fact in enumerate(facts) if fact.folder in SHARED and fact.places & asked.sisters)
    devices = [i for i, fact in enumerate(facts) if any(place.startswith(platform) for place in fact.places)]
    if asked.target not in (platform, "") and there.isdisjoint(devices):
        there.update(devices)
    return sorted(there)
