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
Known = tuple[tuple[str, ...], tuple[float, ...]]
"""The same, made to be gone through often."""


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


def known_of(note: Spelt) -> Known:
    """Those of a note's words of which something was learnt."""
    theirs = _vectors()[1]
    found = {word: weight for word, weight in note.items() if word in theirs}
    return tuple(found), tuple(found.values())


def scores_of(asked: Asked, notes: Sequence[Known]) -> list[float]:
    """How much each of these notes has to do with a question."""
    about, theirs, step = _vectors()
    # The steps of both sides are told by the question, so that a table is as it was read.
    known = [(step * weight, about[word]) for word, weight in asked_words(asked).items() if word in about]
    weights = [weight for weight, _ in known]
    question = [sum(map(mul, weights, part)) for part in zip(*(_numbers(text) for _, text in known), strict=True)]
    said = {word: sum(map(mul, question, vector)) for word, vector in theirs.items()}
    return [sum(map(mul, weighing, map(said.__getitem__, words))) for words, weighing in notes]


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
def _vectors() -> tuple[Mapping[str, str], Mapping[str, Sequence[float]], float]:
    """Of words of questions, of which one has few, as they are written; of words of notes; what a step of both is."""
    table = json.loads(resources.files(__package__).joinpath(TABLE).read_text(encoding="utf-8"))
    theirs = {word: tuple(map(float, _numbers(text))) for word, text in table["noted"]["vectors"].items()}
    return table["asked"]["vectors"], theirs, table["asked"]["step"] * table["noted"]["step"]


def _numbers(text: str) -> "array[int]":
    return array("b", a2b_base64(text))


def _plain(text: str) -> list[str]:
    return [word for word in words(text) if len(word) > 1 and word not in EMPTY and not word.isdigit()]


def _shared(kind: str, found: Iterable[str], weight: float) -> dict[str, float]:
    """All together weigh so much, however many they are."""
    names = sorted(found)
    return {f"{kind}:{name}": weight / math.sqrt(len(names)) for name in names}
