"""Inputs of the calls of a long message: a set for each, with values of its own, and other ones in each message."""

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from kernwright.evaluation.problem.cases import Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.runner.structure import encode, view

DRAWN = 24
"""So many sets are made anew for a series of messages; others are those but for a stretch and an element, or the same
where no part of an input may be another draw's."""
RENEWED = 4
"""Of the former so many are others in a further series of as many sets."""
QUICK_DRAW_S = 0.001
"""Each of these is drawn where a draw takes no longer than this, else put together of known draws."""
LINES = 64
"""Of so many lines of memory, one after the other, one gets the bytes that it is to have when all calls are queued,
caches are empty and nothing is left to do but to let the calls go."""
WIDE, NARROW = 64, 16
"""Bytes of a line; of the smallest inputs."""
Lines = torch.Tensor
"""Of one input in all sets: sets x stretches x lines x bytes."""


class BurstInputs:
    """For one series of messages. `choose` says what the next message will have, `place` and `finish` put it there."""

    def __init__(self, setting: Setting, rng: random.Random, sets: int, memory: torch.Tensor) -> None:
        """`memory`: bytes for so many `sets` or more, for the judge's own copy of them."""
        self.sets, self._setting, self._stride = sets, setting, setting.set_bytes
        self._pool = memory[: sets * self._stride].fill_(0xFF)  # not-a-number between one input and the next
        self._mixable = [
            spec
            for number, (spec, value) in enumerate(zip(setting.input_specs[0], setting.bases[0].values, strict=True))
            if spec is not None and setting.mixable(number, value)
        ]
        self._kinds = kinds_of(setting, min(sets, DRAWN), rng)
        self._slots = [self._slots_in(self._pool, number) for number in range(sets)]
        self._plain: list[Values] = []
        """What the first sets were made of: of the others each has the plain values of one of these."""
        for number in range(min(sets, DRAWN)):
            self._plain.append([])
            self._draw(number, rng)
        self._shift, self._other, self._line = 0, 0, 0

    def renew(self, rng: random.Random) -> None:
        """Make some of the sets anew: of these a call knows nothing from earlier messages."""
        for number in rng.sample(range(len(self._plain)), min(RENEWED, len(self._plain))):
            self._draw(number, rng)

    def _draw(self, number: int, rng: random.Random) -> None:
        """Put new values into one of the first sets, and what is made of them into those that have its plain ones."""
        values = self._make(self._kinds[number], rng)
        self._plain[number] = [value for value in values if not isinstance(value, torch.Tensor)]
        _put(values, self._slots[number])
        for slots in self._slots[number + DRAWN :: DRAWN]:
            _put(self._slots[number], slots)
            self._setting.nudge(slots, rng)

    def choose(self, rng: random.Random) -> None:
        """Which set's values each set will have, and in which lines those of yet another one."""
        self._shift, self._line = rng.randrange(self.sets), rng.getrandbits(16)
        self._other = (self._shift + rng.randrange(1, self.sets)) % self.sets

    def place(self, memory: torch.Tensor, first: int, count: int) -> None:
        """Put values into so many sets from this one on, counted round; some lines of them are not right yet: who
        begins with these is wrong."""
        own, pool = self._in_sets(memory), self._in_sets(self._pool)
        for target, source in _rolled(own, pool, self._shift, first, count):
            target.copy_(source)

    def finish(self, memory: torch.Tensor, first: int, count: int) -> None:
        """Put those lines right."""
        own, pool = self._in_sets(memory), self._in_sets(self._pool)
        for spec in self._mixable:
            for lines, others in _rolled(_lines(own, spec), _lines(pool, spec), self._other, first, count):
                line = self._line % lines.shape[2]
                lines[:, :, line].copy_(others[:, :, line])

    def _in_sets(self, memory: torch.Tensor) -> torch.Tensor:
        return memory[: self._pool.numel()].view(self.sets, -1)

    def values(self, number: int) -> Values:
        """What the set of this number, counted round, has in this message; copies of its tensors."""
        there = self._pool.new_empty(self._stride)
        start = (number + self._shift) % self.sets * self._stride
        there.copy_(self._pool[start : start + self._stride])
        pool = self._in_sets(self._pool)
        for spec in self._mixable:
            lines, others = _lines(there[None], spec), _lines(pool, spec)
            line = self._line % lines.shape[2]
            lines[0, :, line].copy_(others[(number + self._other) % self.sets, :, line])
        plain = iter(self._plain[self._drawn(number)])
        return [next(plain) if slot is None else slot for slot in self._slots_in(there, 0)]

    def plain(self, first: int, count: int) -> bytes:
        """Values that are no tensors, of each set that was made anew, and which of these so many calls have, from one
        set on, for the runner: a length or a bound belongs to the integers of its draw."""
        plain = [[encode(value) for value in each] for each in self._plain]
        return json.dumps([plain, [self._drawn(first + call) for call in range(count)]]).encode()

    def kind(self, number: int) -> str | None:
        """How these differ from the generator's."""
        return self._kinds[self._drawn(number)]

    def _drawn(self, number: int) -> int:
        """Which of the sets that were made anew this one is made of."""
        return (number + self._shift) % self.sets % DRAWN

    def _make(self, kind: str | None, rng: random.Random) -> Values:
        setting = self._setting
        quick = setting.draw_s <= QUICK_DRAW_S
        return setting.mixed(setting.drawn(rng) if quick else setting.recombined(rng), kind, rng)

    def _slots_in(self, memory: torch.Tensor, number: int) -> list[torch.Tensor | None]:
        """Where the tensors of a set lie."""
        place = memory[number * self._stride : (number + 1) * self._stride]
        return [None if spec is None else view(place, spec) for spec in self._setting.input_specs[0]]


def kinds_of(setting: Setting, count: int, rng: random.Random) -> list[str | None]:
    """For so many sets: of two neighbours one is mixed, so that messages of equal length hold equal shares of them."""
    if setting.mixture is None:
        return [None] * count
    kinds: list[str | None] = []
    while len(kinds) < count:
        kinds += rng.sample([None, rng.choice(setting.mixture.kinds)], 2)
    return kinds[:count]


def _put(values: Values, slots: Sequence[torch.Tensor | None]) -> None:
    for value, slot in zip(values, slots, strict=True):
        if slot is not None:
            slot.copy_(value)


def _lines(sets: torch.Tensor, spec: dict[str, Any]) -> Lines:
    """The lines of one input in all sets (sets x bytes); those that do not fill a stretch are left out."""
    start, nbytes = spec["offset"], spec["extent"] * getattr(torch, spec["dtype"]).itemsize
    width = WIDE if nbytes >= WIDE * LINES else NARROW
    count = min(LINES, nbytes // width)
    stretches = nbytes // (width * count) if count else 0
    region = sets[:, start : start + stretches * count * width]
    return region.view(sets.shape[0], stretches, max(count, 1), width)


def _rolled(
    target: torch.Tensor, source: torch.Tensor, by: int, first: int, count: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Stretches of both, cut so that what `by` says is first in the source is the target's first: of so many sets of
    the target from the `first` on, counted round."""
    sets, done = target.shape[0], 0
    while done < min(count, sets):
        to, of = (first + done) % sets, (first + done + by) % sets
        some = min(count - done, sets - done, sets - to, sets - of)
        yield target[to : to + some], source[of : of + some]
        done += some
