"""Which words of a question go with which words of a note, learnt from labelled situations.

The score is a bilinear form of low rank: with a vector for each word, a question and a note are the weighted sums of
their words', and what they have to do with each other is the product of the two. From Bai, Weston and others,
"Supervised Semantic Indexing", CIKM 2009, https://doi.org/10.1145/1645953.1645979, without its identity matrix, whose
part the signals have. Words are kinds of things and never one note's name; a note whose words are unknown has the
signals alone. `benchmarks/knowledge_weights.py` learns the vectors.
"""

import json
import math
from array import array
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from operator import mul

from .asking import Asked
from .vocabulary import EMPTY, canonical, known_as, words

TABLE = "associations.json"
STEPS = 127
"""On each side of 0 that a component of a vector can take."""

Spelt = Mapping[str, float]
"""Words with their weights; what kind of word it is stands before a colon."""


def asked_words(asked: Asked) -> Spelt:
    """Of a question: its tags twice, as notes have them and as they are, limits, place, and words by themselves."""
    found = {f"tag:{tag}": 1.5 * worth for tag, worth in asked.tags.items()}
    for tag in asked.plain:
        found.setdefault(f"tag:{canonical(tag)}", 0.5)
    for rank, limit in enumerate(asked.bottlenecks):
        found[f"limit:{limit}"] = 1.0 if rank == 0 else 0.5
    found[f"intent:{asked.intent}"] = 1.0
    found |= {f"own:{language}": 1.0 for language in asked.own}
    found |= {f"written:{language}": 0.5 for language in asked.written if ":" not in language}
    if asked.target:
        found[f"platform:{asked.target.partition(':')[0]}"] = 1.0
        found[f"target:{known_as(asked.target)[-1]}"] = 1.0
    found |= _shared("seen", set(_plain(asked.seen)), 1.5)
    return found | _shared("problem", set(_plain(asked.problem)), 1.0)


def noted_words(title: str, folder: str, tags: Iterable[str], limits: Iterable[str], places: Iterable[str]) -> Spelt:
    """Of a note; `tags` are canonical."""
    return {
        f"folder:{folder}": 0.5,
        **_shared("tag", tags, 1.0),
        **_shared("limit", limits, 0.7),
        **_shared("place", places, 0.5),
        **_shared("title", set(_plain(title)), 0.7),
    }


def scores_of(asked: Asked, notes: Sequence[Spelt]) -> list[float]:
    """How much each of these notes has to do with a question."""
    about, theirs = _vectors()
    question = [0.0] * len(next(iter(about.values()), ()))
    for word, weight in asked_words(asked).items():
        if (vector := about.get(word)) is not None:
            question = [have + weight * each for have, each in zip(question, vector, strict=True)]
    said = {word: sum(map(mul, question, vector)) for word, vector in theirs.items()}
    return [sum(weight * said.get(word, 0.0) for word, weight in note.items()) for note in notes]


def known() -> frozenset[str]:
    """Words of notes that have vectors."""
    return frozenset(_vectors()[1])


def packed(about: Mapping[str, Sequence[float]], theirs: Mapping[str, Sequence[float]]) -> str:
    """The table of these vectors, in steps."""
    return json.dumps({"asked": _steps(about), "noted": _steps(theirs)}, indent=0) + "\n"


def _steps(vectors: Mapping[str, Sequence[float]]) -> dict[str, object]:
    step = max((abs(each) for vector in vectors.values() for each in vector), default=1.0) / STEPS
    plain = {
        word: b2a_base64(array("b", (round(each / step) for each in vector)).tobytes(), newline=False).decode()
        for word, vector in sorted(vectors.items())
    }
    return {"step": step, "vectors": plain}


@cache
def _vectors() -> tuple[Mapping[str, Sequence[float]], Mapping[str, Sequence[float]]]:
    table = json.loads(resources.files(__package__).joinpath(TABLE).read_text(encoding="utf-8"))
    # The steps of both sides are told by one of them, so that the other's numbers stay small and whole.
    step = table["asked"]["step"] * table["noted"]["step"]
    about = {word: array("b", a2b_base64(text)) for word, text in table["asked"]["vectors"].items()}
    theirs = {
        word: [step * each for each in array("b", a2b_base64(text))] for word, text in table["noted"]["vectors"].items()
    }
    return about, theirs


def _plain(text: str) -> list[str]:
    return [word for word in words(text) if len(word) > 1 and word not in EMPTY and not word.isdigit()]


def _shared(kind: str, found: Iterable[str], weight: float) -> dict[str, float]:
    """All together weigh so much, however many they are."""
    names = sorted(found)
    return {f"{kind}:{name}": weight / math.sqrt(len(names)) for name in names}
