"""Learns what signals are worth from labelled situations: `knowledge_weights.py LABELS.json... [--check] [--write]`.

LABELS.json are as `knowledge_recall.py` reads them. A note's score is linear in its signals and bilinear in the words
of question and note (`knowledge/associations.py`); both make each note that is expected likelier than the others that
apply there and are not expected, as a softmax over the scores of these has it, and are small. The form is learnt whole,
then cut to its RANK largest singular values and learnt on in two factors. Needs numpy and torch; what is learnt are two
tables, `knowledge/weights.json` and `knowledge/associations.json`, which `--write` replaces.

What the packed notes say in `when` was written with these situations in mind, so that it looks better on them than it
is. Therefore weights are learnt, and tried, without the words that a note has from nowhere else: situations are held
apart, and a word of `when` is left out that of all situations where the note is expected only those held apart have.
Notes of other packs may have no `when`, and words that nothing was learnt of: a part of the situations is learnt from a
second time with neither.

`--check` prints recall@5 for situations held apart from words and weights: by fifths, and by files, which is the harder
estimate, since an author's situations help none of that author's others. Behind it what is left without any `when`
and without learnt words.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from knowledge_recall import situation_of
from torch.nn.functional import softplus

from kernwright.core.note import Note
from kernwright.knowledge import associations, signals
from kernwright.knowledge.associations import Spelt, asked_words
from kernwright.knowledge.folders import read_built_in
from kernwright.knowledge.index import Index
from kernwright.knowledge.vocabulary import words

TABLE = Path(signals.__file__).with_name("weights.json")
SMALL, SMALL_FORM, STEPS, FIRST = 1e-3, 5e-5, 60, 5
"""Weights of the weights' and the form's squares; steps of the optimiser; notes that are looked at."""
RANK, FEWEST_ASKED, FEWEST_NOTED = 96, 3, 2
"""Components of a vector; situations, and notes, that have a word of which anything is learnt."""
THIRDS, PLAIN = 3, 4
"""Parts that are held apart in turn; of so many situations one is learnt from without `when` too."""


@dataclass(frozen=True)
class Labelled:
    """A situation as it is asked, and where it is from."""

    origin: str
    tags: tuple[str, ...]
    text: str
    expected: frozenset[str]

    @cached_property
    def words(self) -> set[str]:
        """What `when` may have from it."""
        return {*words(f"{' '.join(self.tags)} {self.text}")}


@dataclass(frozen=True)
class Choice:
    """Of the notes that apply to a situation: their signals and words, and which were expected."""

    names: list[str]
    signals: list[dict[str, float]]
    expected: frozenset[str]
    asked: Spelt
    noted: list[Spelt]

    @property
    def bare(self) -> "Choice":
        """The same with no words."""
        return replace(self, asked={}, noted=[{} for _ in self.names])


@dataclass(frozen=True)
class Learnt:
    """What is told of a note's worth: weights by signal, vectors by word."""

    weights: dict[str, float]
    asked: dict[str, list[float]]
    noted: dict[str, list[float]]

    def scores(self, choice: Choice) -> np.ndarray:
        """Of the notes, in order."""
        plain = [sum(self.weights.get(name, 0.0) * v for name, v in told.items()) for told in choice.signals]
        question = _mixed(choice.asked, self.asked)
        return np.array(plain) + np.array([_mixed(words, self.noted) @ question for words in choice.noted])


def _mixed(words: Spelt, vectors: dict[str, list[float]]) -> np.ndarray:
    known = [(weight, vectors[word]) for word, weight in words.items() if word in vectors]
    total = np.zeros(RANK)
    for weight, vector in known:
        total += weight * np.array(vector)
    return total


def labelled(path: Path) -> list[Labelled]:
    """Of one file."""
    found = []
    for plain in json.loads(path.read_text(encoding="utf-8"))["situations"]:
        asked = situation_of(plain)
        found.append(Labelled(path.stem, asked.tags, asked.text, frozenset(plain["expected"])))
    return found


def choices(notes: Sequence[Note], situations: Sequence[Labelled]) -> list[Choice]:
    """What an index of these notes says to each."""
    index, found = Index(notes), []
    for each in situations:
        asked = index.asked(each.tags, each.text)
        rows = sorted(
            ((index.told[place].name, told, index.spelt(place)) for place, told in index.signals(asked)),
            key=lambda row: row[0],
        )
        names, signals, noted = (list(column) for column in zip(*rows, strict=True))
        found.append(Choice(names, signals, each.expected, asked_words(asked), noted))
    return found


def table_of(rows: Sequence[Mapping[str, float]], fewest: int = 1) -> tuple[list[str], torch.Tensor]:
    """Names that so many rows have, and the rows as a matrix with a column for each."""
    counts = Counter(name for row in rows for name in row)
    names = sorted(name for name, count in counts.items() if count >= fewest)
    place = {name: at for at, name in enumerate(names)}
    matrix = np.zeros((len(rows), len(names)), dtype=np.float32)
    for at, row in enumerate(rows):
        for name, value in row.items():
            if name in place:
                matrix[at, place[name]] = value
    return names, torch.from_numpy(matrix)


class Loss:
    """Of weights and a bilinear form, on known choices; in coordinates in which the words' matrices are small."""

    def __init__(self, known: Sequence[Choice]) -> None:
        spelt = {
            name: words for choice in known for name, words in zip(choice.names, choice.noted, strict=True) if words
        }
        place = {name: at for at, name in enumerate(sorted({n for choice in known for n in choice.names}))}
        self.signals, flat = table_of([told for choice in known for told in choice.signals])
        self.table = torch.zeros(len(known), len(place), len(self.signals))
        self.open = torch.zeros(len(known), len(place), dtype=torch.bool)
        self.hits = torch.zeros(len(known), len(place))
        rows = [(at, place[name]) for at, choice in enumerate(known) for name in choice.names]
        for (at, to), row in zip(rows, flat, strict=True):
            self.table[at, to], self.open[at, to] = row, True
        for at, choice in enumerate(known):
            for name in choice.expected.intersection(choice.names):
                self.hits[at, place[name]] = 1.0
        self.hits /= self.hits.sum(1, keepdim=True).clamp(min=1)
        self.asked, about = table_of([choice.asked for choice in known], FEWEST_ASKED)
        self.noted, theirs = table_of([spelt.get(name, {}) for name in place], FEWEST_NOTED)
        self.about, self.back = turned(about)
        self.theirs, self.their_back = turned(theirs)

    def of(self, weights: torch.Tensor, related: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
        """`related` are the bilinear form's scores, `size` is the sum of the squares of its entries."""
        scores = self.table @ weights + related
        # Expected notes are no rivals of each other: all of them are to be among the first.
        rivals = torch.logsumexp(scores.masked_fill(~self.open | (self.hits > 0), -1e9), 1, keepdim=True)
        missed = (softplus(rivals - scores) * self.hits).sum(1)
        return missed.mean() + SMALL * (weights * weights).sum() + SMALL_FORM * size

    def learnt(self) -> Learnt:
        """Weights and vectors for which it is least."""
        weights = torch.zeros(len(self.signals))
        form = torch.zeros(self.about.shape[1], self.theirs.shape[1])
        lowered([weights, form], lambda: self.of(weights, self.about @ form @ self.theirs.T, (form * form).sum()))
        u, s, v = torch.linalg.svd(form.detach(), full_matrices=False)
        root = s[:RANK].sqrt()
        left, right = (u[:, :RANK] * root).contiguous(), (v[:RANK].T * root).contiguous()
        weights = weights.detach()
        lowered(
            [weights, left, right],
            lambda: self.of(
                weights,
                (self.about @ left) @ (self.theirs @ right).T,
                ((left.T @ left) * (right.T @ right)).sum(),
            ),
        )
        named = dict(zip(self.signals, weights.tolist(), strict=True))
        asked = dict(zip(self.asked, (self.back @ left.detach()).tolist(), strict=True))
        noted = dict(zip(self.noted, (self.their_back @ right.detach()).tolist(), strict=True))
        return Learnt(named, asked, noted)


def turned(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A matrix in as many columns as its rank, and what turns a form in these back; squares sum up to the same."""
    u, s, v = torch.linalg.svd(matrix, full_matrices=False)
    rank = int((s > 1e-5 * s[0]).sum())
    return u[:, :rank] * s[:rank], v[:rank].T


def lowered(values: Sequence[torch.Tensor], loss: Callable[[], torch.Tensor]) -> None:
    """Change the values so that the loss is small."""
    for value in values:
        value.requires_grad_()
    optimiser = torch.optim.LBFGS(values, max_iter=STEPS, line_search_fn="strong_wolfe")

    def step() -> torch.Tensor:
        optimiser.zero_grad()
        value = loss()
        value.backward()
        return value

    optimiser.step(step)


def recall(known: Learnt, choice: Choice) -> float:
    """The share of what was expected among the first."""
    scores = known.scores(choice)
    order = sorted(range(len(scores)), key=lambda at: (-scores[at], choice.names[at]))[:FIRST]
    return len(choice.expected & {choice.names[at] for at in order}) / len(choice.expected)


def unaware(notes: Sequence[Note], apart: Sequence[Labelled], others: Sequence[Labelled]) -> list[Note]:
    """The notes with only such words in `when` as they could have without the situations that are held apart."""
    found = []
    for note in notes:
        here, there = (
            {word for each in group if note.name in each.expected for word in each.words} for group in (apart, others)
        )
        lost = here - there
        when = (" ".join(word for word in words(phrase) if word not in lost) for phrase in note.when)
        found.append(replace(note, when=tuple(when)))
    return found


def blind(notes: Sequence[Note], situations: Sequence[Labelled]) -> list[Choice]:
    """What the notes say to each third of the situations without having been written for it."""
    found: dict[int, Choice] = {}
    for start in range(THIRDS):
        mine = range(start, len(situations), THIRDS)
        apart = [situations[at] for at in mine]
        others = [each for at, each in enumerate(situations) if at % THIRDS != start]
        found |= zip(mine, choices(unaware(notes, apart, others), apart), strict=True)
    return [found[at] for at in range(len(situations))]


def known_by(notes: Sequence[Note], situations: Sequence[Labelled], plain: Sequence[Choice]) -> Learnt:
    """What these situations teach."""
    return Loss([*blind(notes, situations), *(choice.bare for choice in plain[::PLAIN])]).learnt()


def tried(notes: Sequence[Note], situations: Sequence[Labelled], parts: Sequence[Sequence[int]]) -> str:
    """Mean recall over the parts, by what the other parts teach; by file; without `when` and learnt words."""
    plain = choices([replace(note, when=()) for note in notes], situations)
    by_origin: dict[str, list[float]] = defaultdict(list)
    bare = []
    for part in parts:
        others = [at for at in range(len(situations)) if at not in set(part)]
        known, held = [situations[at] for at in others], [situations[at] for at in part]
        mine = unaware(notes, held, known)
        taught = known_by(mine, known, [plain[at] for at in others])
        for at, choice in zip(part, choices(mine, held), strict=True):
            by_origin[situations[at].origin].append(recall(taught, choice))
            bare.append(recall(taught, plain[at].bare))
    mean = sum(map(sum, by_origin.values())) / len(situations)
    origins = ", ".join(f"{name} {sum(each) / len(each):.3f}" for name, each in sorted(by_origin.items()))
    return f"{mean:.3f} ({origins}); without `when` and words {sum(bare) / len(bare):.3f}"


def main() -> None:
    """Learn, check, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path, nargs="+")
    for name in ("check", "write"):
        parser.add_argument(f"--{name}", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    situations = [each for path in asked.labels for each in labelled(path)]
    notes = sorted(read_built_in().notes, key=lambda note: note.name)
    if asked.check:
        order = random.Random(7).sample(range(len(situations)), len(situations))
        origins = dict.fromkeys(each.origin for each in situations)
        by_file = [[at for at, each in enumerate(situations) if each.origin == origin] for origin in origins]
        print(f"by fifths {tried(notes, situations, [order[at::5] for at in range(5)])}")
        print(f"by files {tried(notes, situations, by_file)}")
    plain = choices([replace(note, when=()) for note in notes], situations)
    taught = known_by(notes, situations, plain)
    print("\n".join(f"{value:7.2f}  {name}" for name, value in sorted(taught.weights.items(), key=lambda row: -row[1])))
    if asked.write:
        table = {name: round(value, 3) for name, value in sorted(taught.weights.items()) if abs(value) >= 0.005}
        TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
        TABLE.with_name(associations.TABLE).write_text(
            associations.packed(taught.asked, taught.noted), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
