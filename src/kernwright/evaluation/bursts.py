"""Many calls in one message: what the judge's own clock says of a short one."""

import math
import random
from functools import partial
from statistics import median

import torch

from .participant import Participant
from .reference import Values
from .runner.structure import view
from .setting import MOST_SETS, SETS, Setting
from .timing import require_right

BURST_NS = 800_000
"""What the shorter message of a pair takes, about."""
LOOKED_AT = 3
"""Results that are compared of each of two messages, whose number nobody else knows before."""
BURST_NOISE_NS = 20_000
"""Standard deviation of what such a message takes beside its calls: about what one H200 showed."""
KEPT_BYTES = 1 << 30
"""What the results of all calls of a message may hold together; where it would be more, the last alone is kept."""


def slope_ns(participant: Participant, setting: Setting, *, calls: int = 64, repeats: int = 5) -> float:
    """The judge's time per call: the difference between 2K and K calls in one message, over K."""
    values = setting.bases[0].values
    participant.fill(setting.index, 0, values)
    short, long = (
        median(participant.burst(setting.index, 0, values, count) for _ in range(repeats))
        for count in (calls, 2 * calls)
    )
    return (long - short) / calls


def burst_ns(
    participant: Participant, setting: Setting, shown_ns: float, rng: random.Random, repeats: int = 3
) -> tuple[float, float]:
    """The judge's time per call in long messages, and thrice its standard error.

    The median over pairs of messages of (time for 2K calls - time for K calls) / K. K is so large that the noise of a
    message is small beside the calls, and so small that a device's queue of launches takes them all. The inputs come
    when the calls are queued, other ones for each call where there is room, and no cache holds them by then. Some
    results of a pair of messages, of which nobody but the judge knew which they would be, are compared.

    Raises:
        Ended: that result is wrong.
    """
    most = participant.queueable_calls(setting.index) // 2
    calls = int(max(2, min(most, MOST_SETS // 2, BURST_NS / max(shown_ns, 1.0))))
    reuses = setting.reference.problem.rules.reuse_outputs
    keep = not reuses and 2 * calls * setting.output_bytes <= KEPT_BYTES
    messages = _Messages(participant, setting, rng, keep=keep)
    messages.warm_up(2 * calls)
    looked_at, slopes = rng.randrange(repeats), []
    for repeat in range(repeats):
        pair = [calls, 2 * calls]
        rng.shuffle(pair)
        taken = {}
        for count in pair:
            taken[count] = messages.send(count)
            if repeat == looked_at:
                messages.require_right(count)
        slopes.append((taken[2 * calls] - taken[calls]) / calls)
    participant.forget_burst()
    middle = median(slopes)
    spread = 1.4826 * median(abs(slope - middle) for slope in slopes)  # of a normal distribution, by its quartiles
    # A few slopes may agree by chance; what a message takes is not known better than this.
    least = math.sqrt(2) * BURST_NOISE_NS / calls
    return middle, 3 * max(spread, least) / math.sqrt(repeats)


class _Messages:
    """Bursts of one participant on one workload, with the values that each of their calls had."""

    def __init__(self, participant: Participant, setting: Setting, rng: random.Random, *, keep: bool) -> None:
        self._participant, self._setting, self._rng, self._keep = participant, setting, rng, keep
        self._rotation = None if setting.overlapping or setting.lean else _Rotation(setting, rng)
        self._first, self._shift = 0, 0
        self._values: Values = []

    def warm_up(self, count: int) -> None:
        """The allocator learns how much is kept, and the candidate every address that will come."""
        if self._rotation is not None and self._rotation.sets > count:
            self.send(self._rotation.sets, keep=False)  # there is room for the results of `count` alone
        self.send(count)

    def send(self, count: int, *, keep: bool = True) -> float:
        """The judge's nanoseconds for so many calls."""
        keep = keep and self._keep
        setting, rotation = self._setting, self._rotation
        if rotation is None:
            self._first = self._rng.randrange(SETS)
            self._values = setting.drawn(self._rng) if setting.lean else setting.recombined(self._rng)
            return self._participant.burst(setting.index, self._first, self._values, count, keep=keep)
        self._first, self._shift = (self._rng.randrange(rotation.sets) for _ in range(2))
        fill = partial(rotation.place, self._shift)
        values = rotation.values(0)
        return self._participant.burst(setting.index, self._first, values, count, rotating=True, fill=fill, keep=keep)

    def require_right(self, count: int) -> None:
        """Compare results of the latest message, which had so many calls."""
        looked_at = self._rng.sample(range(count), min(LOOKED_AT, count)) if self._keep else [count - 1]
        for index in looked_at:
            outputs = self._participant.of_burst(self._setting.index, index if self._keep else 0)
            values = self._values
            if self._rotation is not None:
                values = self._rotation.values(self._first + index + self._shift)
            require_right(self._setting, values, outputs)


class _Rotation:
    """Values for all input sets, each its own; a shift gives every set another one's."""

    def __init__(self, setting: Setting, rng: random.Random) -> None:
        self.sets = len(setting.input_specs)
        self._pool = torch.full(  # not-a-number between one input and the next
            (setting.sizes[1],), 0xFF, dtype=torch.uint8, device=setting.reference.place.device
        )
        self._stride = self._pool.numel() // self.sets
        self._values = [self._kept(setting, number, setting.recombined(rng)) for number in range(self.sets)]

    def _kept(self, setting: Setting, number: int, values: Values) -> Values:
        kept = []
        for spec, value, first in zip(setting.input_specs[number], values, setting.bases[0].values, strict=True):
            if spec is None:
                kept.append(first)  # a message has plain values for all its calls
            else:
                slot = view(self._pool, spec)
                slot.copy_(value)
                kept.append(slot)
        return kept

    def place(self, shift: int, memory: torch.Tensor) -> None:
        """Put the values of set i + shift into set i, for all."""
        cut = (shift % self.sets) * self._stride
        end = self._stride * self.sets
        memory[: end - cut].copy_(self._pool[cut:end])
        memory[end - cut : end].copy_(self._pool[:cut])

    def values(self, number: int) -> Values:
        """Those that set `number` had before any shift, counted round."""
        return self._values[number % self.sets]
