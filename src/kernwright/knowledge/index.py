"""Which notes speak of a situation: by tags first, then by their words with SQLite's BM25."""

import math
import sqlite3
import weakref
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from kernwright.core.errors import UserError
from kernwright.core.note import Note

from . import vocabulary
from .vocabulary import ANY, BOTTLENECKS, EMPTY, OPERATORS, applies, canonical, scope, words

COLUMNS = {"name": 2.0, "title": 6.0, "tags": 6.0, "about": 2.0, "body": 1.0}
"""Of the text index, with what a word is worth there; `about` is what a note applies to, and its evidence."""
MOST_WORDS = 200
"""Of a query; the first are kept."""
BOTTLENECK, TAG, SEEN, PROBLEM, NEAR = 0.45, 1.15, 0.5, 0.45, 0.55
"""What the parts of a score weigh; words of what was seen - figures, an error - apart from those of the problem."""
SCARCE = 1.3
"""How much more it says to be about a target that few notes are about: a power of how scarce they are."""
BEGINNING = 1.3
"""How much more it counts to be about the target or language where nothing has been seen yet."""
FAILURES = {"build-error": "languages", "numerics": "constraints"}
"""Classes of failures, and the folder whose notes mend most of them."""
MENDS = 0.17
"""What a note of that folder gains then."""
FAILED = 0.55
"""What is left of the weight of tags where a failure is to be mended: its words say more than the operators."""
DEMANDS = 0.5
"""What a note on what the judge demands loses where nothing failed: it is about being right, not about being fast."""
NEW = ("new-platform", "porting", "roofline", "output-form", "module")
"""What is asked for where no note knows the platform or any of the languages."""
ELSEWHERE = 0.6
"""What a note loses that is about other operators alone."""
FOREIGN = 0.3
"""What a note on a language loses that is not the one that is written in."""
LEAST = 0.01
"""What it keeps."""
AGAIN = 0.8
"""What is left of the weight of a bottleneck or tag with each note that speaks of it."""
ALIKE = 0.15
"""What a note loses for each chosen one with the same tags, in part where only some are the same."""
SIBLING = 0.08
"""What it loses for each chosen one of its folder, where that is about one thing."""
ABOUT_ONE_THING = frozenset({"constraints", "languages", "platforms", "samples"})
IN_A_LANGUAGE = frozenset({"languages", "samples"})
POOL, TOGETHER = 48, 8
"""Of so many notes so many are chosen for what they say together; the rest follow by what each says."""
FADING = 0.45
"""Each further bottleneck of a diagnosis weighs so much of the one before."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query taken apart."""

    bottlenecks: Mapping[str, float]
    """With their weights, the dominant one first."""
    tags: Mapping[str, float]
    """Canonical words with what each is worth; three of them make 1."""
    scope: tuple[str, ...]
    """Empty where every note may be told."""
    near: frozenset[str]
    """Of the scope what is written for: without the languages that it is not written in."""
    seen: str
    """Words of what was seen: figures, an error, an approach."""
    text: str
    """Words of the problem, and the tags."""
    about: frozenset[str]
    """Operators among the tags."""
    written: frozenset[str]
    """Languages that a candidate is written in, and the target; empty where none is said."""
    mends: str
    """The folder whose notes mend most of what is seen; empty where nothing failed."""


class Index:
    """Over notes that do not change."""

    def __init__(self, notes: Sequence[Note]) -> None:
        """Raises UserError where SQLite cannot search texts."""
        self._notes = tuple(notes)
        self._names = frozenset(name for note in self._notes for name in note.applies_to)
        self._tags = [frozenset(map(canonical, note.tags)) for note in self._notes]
        counts = Counter(tag for tags in self._tags for tag in tags)
        self._rarity = {tag: math.log(1 + len(self._notes) / count) for tag, count in counts.items()}
        self._places: dict[tuple[str, ...], Sequence[int]] = {}
        self._limits = [frozenset(note.bottlenecks) for note in self._notes]
        self._about = [tags & OPERATORS for tags in self._tags]
        count = Counter(name for note in self._notes for name in note.applies_to)
        most = math.log(1 + len(self._notes))
        self._scarce = {name: math.log(1 + len(self._notes) / n) / most for name, n in count.items() if name != ANY}
        self._folders = [note.name.partition("/")[0] for note in self._notes]
        # The last reference may be dropped in another thread than that which made it.
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self._connection.close)
        try:
            self._fill()
        except sqlite3.OperationalError as error:
            raise UserError(
                f"Knowledge is searched by SQLite's FTS5, which this Python's SQLite lacks ({error}); use a Python "
                "whose SQLite has it, as those of python.org, conda and Linux distributions do."
            ) from None

    def ranked(self, tags: Sequence[str], text: str, k: int) -> list[tuple[float, Note]]:
        """The k notes that together say most to this, each with what it adds to those before it.

        The best about the dominant bottleneck comes first.
        """
        asked = taken_apart(tags, text, self._names, self._rarity)
        said: dict[int, float] = {}
        for text, weight in ((asked.seen, SEEN), (asked.text, PROBLEM)):
            for place, score in self._said(text).items():
                said[place] = said.get(place, 0.0) + weight * score
        places = self._within(asked.scope)
        scores = {place: self._score(place, asked, said, asked.bottlenecks, asked.tags) for place in places}
        order = sorted((p for p, s in scores.items() if s > 0.0), key=lambda p: (-scores[p], self._notes[p].name))
        chosen = self._chosen(order[:POOL], asked, said, min(k, TOGETHER))
        taken = {place for _, place in chosen}
        chosen += [(scores[place], place) for place in order if place not in taken]
        found = [(score, self._notes[place]) for score, place in chosen[:k]]
        return _dominant_first(found, next(iter(asked.bottlenecks), ""))

    def _chosen(self, pool: Sequence[int], asked: Asked, said: Mapping[int, float], k: int) -> list[tuple[float, int]]:
        """The best, then what adds most to it, and so on: a third note on softmax tells less than a first on loads."""
        left, limits, tags = list(pool), dict(asked.bottlenecks), dict(asked.tags)
        chosen: list[tuple[float, int]] = []
        alike = dict.fromkeys(pool, 0.0)
        while left and len(chosen) < k:
            score, at = max(
                (self._score(place, asked, said, limits, tags) - alike[place], -at) for at, place in enumerate(left)
            )
            place = left.pop(-at)
            chosen.append((score, place))
            for other in left:
                alike[other] += self._alike(place, other)
            for told, weights in ((self._tags[place], tags), (self._limits[place], limits)):
                for each in told & weights.keys():
                    weights[each] *= AGAIN
        return chosen

    def _alike(self, place: int, other: int) -> float:
        """What a note loses once another is chosen: by the share of their tags that both have, and by the folder."""
        one, two = self._tags[place], self._tags[other]
        same = self._folders[place] == self._folders[other] and self._folders[place] in ABOUT_ONE_THING
        return ALIKE * len(one & two) / max(1, len(one | two)) + SIBLING * same

    def _score(
        self,
        place: int,
        asked: Asked,
        said: Mapping[int, float],
        limits: Mapping[str, float],
        tags: Mapping[str, float],
    ) -> float:
        """What a note says to this, where bottlenecks and tags have these weights left."""
        score = said.get(place, 0.0)
        if shared := self._limits[place] & limits.keys():
            # A note about half of all bottlenecks is about none of them.
            score += BOTTLENECK * sum(limits[each] for each in shared) / math.sqrt(len(self._limits[place]))
        if shared := self._tags[place] & tags.keys():
            score += TAG * min(1.0, sum(tags[each] for each in shared))
        scarce = min((self._scarce[w] for w in self._notes[place].applies_to if w in asked.near), default=0.0)
        near = NEAR * math.pow(scarce, SCARCE) * (1.0 if asked.bottlenecks else BEGINNING)
        if score + near <= 0.0:
            return 0.0
        if asked.about and self._about[place] and not self._about[place] & asked.about:
            score = max(LEAST, score - ELSEWHERE)
        if self._folders[place] == asked.mends:
            score += MENDS
        elif self._folders[place] == "constraints" and not asked.mends:
            score -= DEMANDS
        if asked.written and self._folders[place] in IN_A_LANGUAGE:
            there = self._notes[place].applies_to
            if ANY not in there and not asked.written.intersection(there):
                score -= FOREIGN
        return max(LEAST, score + near)

    def _within(self, scope: tuple[str, ...]) -> Sequence[int]:
        """Places of the notes that apply there; a run asks for few scopes again and again."""
        if not scope:
            return range(len(self._notes))
        if scope not in self._places:
            self._places[scope] = [i for i, note in enumerate(self._notes) if applies(note.applies_to, scope)]
        return self._places[scope]

    def _fill(self) -> None:
        columns = ", ".join(COLUMNS)
        # The texts are not asked for again; where a word stands is: weights of columns need it.
        kept = "tokenize='porter unicode61', content=''"
        self._connection.execute(f"CREATE VIRTUAL TABLE notes USING fts5({columns}, {kept})")
        rows = [
            (
                place,
                " ".join(words(note.name)),
                note.title,
                " ".join((*note.tags, *map(canonical, note.tags), *note.bottlenecks)),
                " ".join((*(each for each in note.applies_to if each != ANY), note.evidence)),
                note.text,
            )
            for place, note in enumerate(self._notes, 1)
        ]
        self._connection.executemany(f"INSERT INTO notes(rowid, {columns}) VALUES (?, ?, ?, ?, ?, ?)", rows)
        self._connection.commit()

    def _said(self, text: str) -> dict[int, float]:
        """How much the words of a text occur in each note, the most being 1."""
        asked = list(dict.fromkeys(word for word in words(text) if len(word) > 1 and word not in EMPTY))[:MOST_WORDS]
        if not asked:
            return {}
        query = " OR ".join(f'"{word}"' for word in asked)
        weights = ", ".join(map(str, COLUMNS.values()))
        found = self._connection.execute(
            f"SELECT rowid, -bm25(notes, {weights}) FROM notes WHERE notes MATCH ?", (query,)
        ).fetchall()
        top = max((score for _, score in found), default=0.0)
        return {place - 1: score / top for place, score in found if score > 0.0} if top > 0.0 else {}


def taken_apart(tags: Sequence[str], text: str, names: Iterable[str], known: Mapping[str, float]) -> Asked:
    """Tags are in order of weight: bottlenecks, the target (it has a colon), and whatever notes are tagged with.

    `names` are what notes say that they apply to: such a tag is a language. One before the target is being written,
    one behind it may be. Of other tags those count that are `known`, with their rarity.
    """
    there = set(names)
    bottlenecks = list(dict.fromkeys(tag for tag in tags if tag in BOTTLENECKS))
    target = next((tag for tag in tags if ":" in tag), "")
    plain = [tag for tag in tags if ":" not in tag and tag not in BOTTLENECKS]
    languages = [tag for tag in plain if tag in there]
    before = set(takewhile(lambda tag: tag != target, tags))
    own = [tag for tag in languages if tag in before]
    seen, _, rest = text.partition(vocabulary.SEEN)
    # What notes speak of by their names is a language, and so is whatever else stands behind the target.
    others = [tag for tag in plain if tag not in before] if target else []
    mends = FAILURES.get(next(iter(bottlenecks), ""), "")
    around = scope(target, own or languages) if target else ()
    if target and not there.intersection(around):
        plain = [*NEW, *plain]
    weights: dict[str, float] = {}
    for tag in plain:
        if (tag not in there or tag in before) and canonical(tag) in known:
            weights.setdefault(canonical(tag), 1.0)
    for tag in bottlenecks:
        weights.setdefault(canonical(tag), 0.5)
    scale = FAILED if mends else 1.0
    worth = {tag: weight * known.get(tag, 0.0) for tag, weight in weights.items()}
    most = sum(sorted(worth.values(), reverse=True)[:3]) or 1.0
    return Asked(
        bottlenecks={each: FADING**rank for rank, each in enumerate(bottlenecks)},
        tags={tag: scale * each / most for tag, each in worth.items()},
        scope=scope(target, languages) if target else (),
        near=frozenset(around),
        seen=" ".join((*bottlenecks, seen)),
        text=" ".join((*plain, rest)),
        mends=mends,
        written=frozenset((*(own or others), target)) if own or others else frozenset(),
        about=OPERATORS.intersection(weights),
    )


def _dominant_first(found: list[tuple[float, Note]], dominant: str) -> list[tuple[float, Note]]:
    first = next((i for i, (_, note) in enumerate(found) if dominant in note.bottlenecks), 0)
    return [found[first], *found[:first], *found[first + 1 :]] if found else []
