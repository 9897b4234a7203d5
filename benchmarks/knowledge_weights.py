"""Learns what signals are worth from labelled situations: `knowledge_weights.py LABELS.json... [--check] [--write]`.

LABELS.json are as `knowledge_recall.py` reads them. A note's score is linear in its signals; weights make the notes
that are expected likelier than the others that apply there, as a softmax over the scores has it, and are small. Needs
numpy and torch; what is learnt is a table, `knowledge/weights.json`, which `--write` replaces.

What the packed notes say in `when` was written with these situations in mind, so that it looks better on them than it
is. Therefore weights are learnt, and tried, without the words that a note has from nowhere else: situations are held
apart, and a word of `when` is left out that of all situations where the note is expected only those held apart have.
Notes of other packs may have no `when`: a part of the situations is learnt from a second time with none at all.

`--check` prints recall@5 for situations held apart from words and weights: by fifths, and by files, which is the harder
estimate, since an author's situations help none of that author's others. Behind it what is left without any `when`.
"""

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from knowledge_recall import situation_of

from kernwright.core.note import Note
from kernwright.knowledge import signals
from kernwright.knowledge.folders import read_built_in
from kernwright.knowledge.index import Index
from kernwright.knowledge.vocabulary import words

TABLE = Path(signals.__file__).with_name("weights.json")
SMALL, STEPS, FIRST = 1e-3, 60, 5
"""Weight of the weights' squares; steps of the optimiser; notes that are looked at."""
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
    """Of the notes that apply to a situation: their signals, and which were expected."""

    names: list[str]
    signals: list[dict[str, float]]
    expected: frozenset[str]


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
        rows = sorted(((note.name, told) for note, told in index.signals(each.tags, each.text)), key=lambda row: row[0])
        found.append(Choice([name for name, _ in rows], [told for _, told in rows], each.expected))
    return found


def learnt(known: Sequence[Choice]) -> dict[str, float]:
    """Weights by signal."""
    names = sorted({name for choice in known for told in choice.signals for name in told})
    place = {name: at for at, name in enumerate(names)}
    rows = [told for choice in known for told in choice.signals]
    matrix = np.zeros((len(rows), len(names)), dtype=np.float64)
    for at, told in enumerate(rows):
        for name, value in told.items():
            matrix[at, place[name]] = value
    table = torch.from_numpy(matrix)
    of = torch.tensor([at for at, choice in enumerate(known) for _ in choice.names])
    hit = torch.tensor([float(n in choice.expected) for choice in known for n in choice.names], dtype=torch.float64)
    hits = torch.zeros(len(known), dtype=torch.float64).index_add_(0, of, hit).clamp(min=1)
    weights = torch.zeros(len(names), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=STEPS, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        scores = table @ weights
        # Scores stay small, as weights do: no maximum has to be taken off.
        total = torch.zeros(len(known), dtype=torch.float64).index_add_(0, of, scores.exp()).log()
        told = torch.zeros(len(known), dtype=torch.float64).index_add_(0, of, scores * hit) / hits
        value = (total - told).mean() + SMALL * (weights * weights).sum()
        value.backward()
        return value

    optimiser.step(loss)
    return dict(zip(names, weights.tolist(), strict=True))


def recall(weights: dict[str, float], choice: Choice) -> float:
    """The share of what was expected among the first."""
    scores = [sum(weights.get(name, 0.0) * value for name, value in told.items()) for told in choice.signals]
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


def known_by(notes: Sequence[Note], situations: Sequence[Labelled], plain: Sequence[Choice]) -> dict[str, float]:
    """Weights by these situations."""
    return learnt([*blind(notes, situations), *plain[::PLAIN]])


def tried(notes: Sequence[Note], situations: Sequence[Labelled], parts: Sequence[Sequence[int]]) -> str:
    """Mean recall over the parts, by words and weights from the other parts; by file; without `when`."""
    plain = choices([replace(note, when=()) for note in notes], situations)
    by_origin: dict[str, list[float]] = defaultdict(list)
    without = []
    for part in parts:
        others = [at for at in range(len(situations)) if at not in set(part)]
        known, held = [situations[at] for at in others], [situations[at] for at in part]
        mine = unaware(notes, held, known)
        weights = known_by(mine, known, [plain[at] for at in others])
        for at, choice in zip(part, choices(mine, held), strict=True):
            by_origin[situations[at].origin].append(recall(weights, choice))
            without.append(recall(weights, plain[at]))
    mean = sum(map(sum, by_origin.values())) / len(situations)
    origins = ", ".join(f"{name} {sum(each) / len(each):.3f}" for name, each in sorted(by_origin.items()))
    return f"{mean:.3f} ({origins}); without `when` {sum(without) / len(without):.3f}"


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
    weights = known_by(notes, situations, plain)
    print("\n".join(f"{value:7.2f}  {name}" for name, value in sorted(weights.items(), key=lambda row: -row[1])))
    if asked.write:
        table = {name: round(value, 3) for name, value in sorted(weights.items()) if abs(value) >= 0.005}
        TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
