"""Which notes speak of a situation: words by SQLite's BM25, tags and places, weighed together."""

import math
import sqlite3
import weakref
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from kernwright import __version__
from kernwright.core.errors import UserError
from kernwright.core.note import Note

from .asking import Asked, taken_apart
from .associations import Known, Spelt, known_of, noted_words, scores_of
from .signals import connecting, fact_of, standing, weighed, within
from .vocabulary import ANY, BOTTLENECKS, EMPTY, canonical, words

TABLES = {"notes": ("title", "tags", "body"), "calls": ("situations",)}
"""Text indexes with their columns. `body` has what a note applies to and its evidence too, `situations` what `when`
says: in an index of its own, since there a word is rare or a text long by other measures."""
MOST_WORDS = 200
"""Of a query; the first are kept."""
RECENT = 16
"""Questions, and words that are looked for, whose answers are kept: of a run's briefs many ask the same."""

Signals = dict[str, float]


class Index:
    """Over notes that do not change."""

    def __init__(self, notes: Sequence[Note], image: bytes = b"") -> None:
        """`image` is what `image` gave of the same notes; one that is not is left alone.

        Raises UserError where SQLite cannot search texts.
        """
        self.told = tuple(notes)
        self._facts = tuple(map(fact_of, notes))
        self._known: dict[int, Known] = {}
        self._rarity = _rarity([fact.tags for fact in self._facts])
        places = _rarity([fact.places for fact in self._facts])
        most = math.log(1 + len(self._facts))
        self._scarce = {place: rare / most for place, rare in places.items() if place != ANY}
        self._answered: dict[tuple[tuple[str, ...], str], list[tuple[float, Note]]] = {}
        self._rows: dict[tuple[str, str], list[tuple[int, *tuple[float, ...]]]] = {}
        self._within: dict[tuple[str, ...], Sequence[int]] = {}
        self._open()
        try:
            if not self._restored(image):
                self._fill()
        except sqlite3.OperationalError as error:
            raise UserError(
                f"Knowledge is searched by SQLite's FTS5, which this Python's SQLite lacks ({error}); use a Python "
                "whose SQLite has it, as those of python.org, conda and Linux distributions do."
            ) from None

    def ranked(self, tags: Sequence[str], text: str, k: int) -> list[tuple[float, Note]]:
        """The k notes that say most to this, with how much.

        The best about the dominant bottleneck comes first, if it is among twice as many.
        """
        found = self._weighed(tuple(tags), text)
        dominant = next((tag for tag in tags if tag in BOTTLENECKS), "")
        return _dominant_first(found[: 2 * k], dominant)[:k]

    def _weighed(self, tags: tuple[str, ...], text: str) -> list[tuple[float, Note]]:
        """All of them, in order; several kernels in a row are made of the same one, and the same is asked for each."""
        if (tags, text) not in self._answered:
            asked = self.asked(tags, text)
            rows = list(self.signals(asked))
            related = scores_of(asked, [self._known_at(place) for place, _ in rows])
            found = [
                (weighed(signals) + more, self.told[place])
                for (place, signals), more in zip(rows, related, strict=True)
            ]
            found.sort(key=lambda each: (-each[0], each[1].name))
            _keep(self._answered, (tags, text), found)
        return self._answered[tags, text]

    def asked(self, tags: Sequence[str], text: str) -> Asked:
        """A question as these notes take it."""
        return taken_apart(tags, text, self._scarce, self._rarity)

    def signals(self, asked: Asked) -> Iterator[tuple[int, Signals]]:
        """The place of every note that has to do with this, with what connects them."""
        said = self._said(asked)
        for place in self._places(asked):
            fact = self._facts[place]
            found = {**said.get(place, {}), **dict(connecting(fact, asked, self._scarce))}
            if found:
                yield place, found | dict(standing(fact, asked))

    def spelt(self, place: int) -> Spelt:
        """The words of the note at this place that go with words of questions."""
        fact = self._facts[place]
        named = f"{fact.note.name.partition('/')[2]} {fact.note.title}"
        return noted_words(named, fact.folder, fact.tags, fact.limits, fact.places)

    def _known_at(self, place: int) -> Known:
        if place not in self._known:
            self._known[place] = known_of(self.spelt(place))
        return self._known[place]

    def _places(self, asked: Asked) -> Sequence[int]:
        """Of the notes that are weighed there; a run asks for few scopes again and again."""
        if not asked.scope:
            return range(len(self._facts))
        if asked.scope not in self._within:
            self._within[asked.scope] = within(self._facts, asked)
        return self._within[asked.scope]

    def _open(self) -> None:
        # The last reference may be dropped in another thread than that which made it.
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self._connection.close)

    def image(self) -> bytes:
        """The texts as they are indexed, to be kept: reading them takes a small part of the time of indexing them."""
        return self._connection.serialize() if hasattr(self._connection, "serialize") else b""

    def _restored(self, image: bytes) -> bool:
        """Whether the texts are those of an image, which is of this form and these notes, and can be searched here."""
        if not image or not hasattr(self._connection, "deserialize"):
            return False
        try:
            self._connection.deserialize(image)
            form = {sql for (sql,) in self._connection.execute("SELECT sql FROM sqlite_master WHERE sql LIKE '%fts5%'")}
            of = self._connection.execute("PRAGMA user_version").fetchone()[0]
            for table in TABLES:  # another SQLite may have written it, or this one lack FTS5
                self._connection.execute(f"SELECT bm25({table}) FROM {table} WHERE {table} MATCH 'a'").fetchone()
            if form == set(map(_form, TABLES)) and of == _identity(self.told):
                return True
        except sqlite3.DatabaseError:
            pass
        self._open()
        return False

    def _fill(self) -> None:
        for table, columns in TABLES.items():
            self._connection.execute(_form(table))
            rows = [(place, *_TEXTS[table](fact.note)) for place, fact in enumerate(self._facts)]
            places = ", ".join("?" * (1 + len(columns)))
            self._connection.executemany(f"INSERT INTO {table}(rowid, {', '.join(columns)}) VALUES ({places})", rows)
        self._connection.execute(f"PRAGMA user_version = {_identity(self.told)}")
        self._connection.commit()

    def _said(self, asked: Asked) -> dict[int, Signals]:
        """How much words occur in each part of each note, the most being 1: those that were seen, and the problem's.

        The situations that a note is for are compared with both at once.
        """
        found: dict[int, Signals] = {}
        for kind, text, table in (
            ("seen", asked.seen, "notes"),
            ("problem", asked.problem, "notes"),
            ("all", asked.everything, "calls"),
        ):
            rows = self._scores(text, table)
            for at, part in enumerate(TABLES[table]):
                top = max((row[at + 1] for row in rows), default=0.0)
                for place, *scores in rows:
                    if scores[at] > 0.0:
                        found.setdefault(place, {})[f"{kind}:{part}"] = scores[at] / top
        return found

    def _scores(self, text: str, table: str) -> list[tuple[int, *tuple[float, ...]]]:
        """Places of the notes that have a word of the text, each with its score in each column."""
        asked = list(dict.fromkeys(word for word in words(text) if len(word) > 1 and word not in EMPTY))[:MOST_WORDS]
        if not asked:
            return []
        query = " OR ".join(f'"{word}"' for word in asked)
        if (table, query) not in self._rows:
            _keep(self._rows, (table, query), self._selected(table, query))
        return self._rows[table, query]

    def _selected(self, table: str, query: str) -> list[tuple[int, *tuple[float, ...]]]:
        columns = TABLES[table]
        each = (", ".join("1.0" if column == this else "0.0" for column in columns) for this in columns)
        scores = ", ".join(f"-bm25({table}, {weights})" for weights in each)
        return self._connection.execute(
            f"SELECT rowid, {scores} FROM {table} WHERE {table} MATCH ?", (query,)
        ).fetchall()


def _form(table: str) -> str:
    # The texts are not asked for again; where a word stands is: scores of columns need it.
    return (
        f"CREATE VIRTUAL TABLE {table} USING fts5({', '.join(TABLES[table])}, tokenize='porter unicode61', content='')"
    )


def _identity(notes: Sequence[Note]) -> int:
    """Of these notes in this order, by whose places texts are found, as this version takes them apart."""
    parts = [__version__, *(part for note in notes for part in (note.name, note.title, note.text))]
    return zlib.crc32("\0".join(parts).encode()) & 0x7FFFFFFF  # SQLite keeps it with a sign


def _keep(answers: dict[Any, Any], asked: object, answer: object) -> None:
    answers[asked] = answer
    if len(answers) > RECENT:
        del answers[next(iter(answers))]


def _rarity(groups: Sequence[frozenset[str]]) -> dict[str, float]:
    """Of each word: the fewer groups have it, the more."""
    counts = Counter(word for group in groups for word in group)
    return {word: math.log(1 + len(groups) / count) for word, count in counts.items()}


def _about(note: Note) -> tuple[str, ...]:
    places = (place for place in note.applies_to if place != ANY)
    return (
        " ".join((*words(note.name), note.title)),
        " ".join((*note.tags, *map(canonical, note.tags), *note.bottlenecks)),
        " ".join((*places, note.evidence, note.text)),
    )


def _calls(note: Note) -> tuple[str, ...]:
    """Where nobody has said when a note is wanted, its title and tags say what it is about."""
    return (" ".join(note.when or (note.title, *note.tags)),)


_TEXTS = {"notes": _about, "calls": _calls}


def _dominant_first(found: list[tuple[float, Note]], dominant: str) -> list[tuple[float, Note]]:
    first = next((i for i, (_, note) in enumerate(found) if dominant in note.bottlenecks), 0)
    return [found[first], *found[:first], *found[first + 1 :]] if found else []
