"""Many calls in one message: what the judge's own clock says of a short one."""

import random
from functools import partial
from statistics import median

import torch

from kernwright.core.ports import DeviceSession

from .clocks import Burst
from .footprint import RECORD_BYTES
from .pairs import Pairs
from .participant import Participant
from .reference import Values
from .runner.structure import view
from .setting import MOST_SETS, SETS, Setting
from .timing import require_right

BURST_NS = 800_000
"""What the shorter message of a pair takes, about."""
PATIENCE = 8
"""So many times as long as usual the judge waits for calls to be queued that were not the first time."""
LOOKED_AT = 3
"""Results that are compared of each of two messages, whose number nobody else knows before."""


def slope_ns(participant: Participant, setting: Setting, *, calls: int = 64, repeats: int = 5) -> float:
    """The judge's time per call: the difference between 2K and K calls in one message, over K."""
    values = setting.bases[0].values
    participant.fill(setting.index, 0, values)
    short, long = (
        median(participant.burst(setting.index, 0, values, count).judge_ns for _ in range(repeats))
        for count in (calls, 2 * calls)
    )
    return (long - short) / calls


def pairs(
    participant: Participant,
    setting: Setting,
    shown_ns: float,
    rng: random.Random,
    session: DeviceSession,
    repeats: int = 3,
    *,
    calls: int = 0,
    compared: bool = True,
) -> Pairs:
    """Send pairs of long messages, with K and with 2K calls, to a participant whose calls show `shown_ns`.

    K is `calls`, or else so large that the noise of a message is small beside them, and so small that a device's queue
    of launches takes them all. The inputs come when the calls are queued, other ones for each call where there is room,
    and no cache holds them by then. Every call's results are copied to the judge's memory as part of the message, where
    there is room; some of a pair of messages, of which nobody but the judge knew which they would be, are `compared`.
    Those of a baseline that lives on cannot be: its weights are those of the evaluation that it was started for.

    Raises:
        Ended: one of them is wrong.
    """
    most = participant.queueable_calls(setting.index) // 2
    calls = calls or int(max(2, min(most, MOST_SETS // 2, BURST_NS / max(shown_ns, 1.0))))
    messages = _Messages(participant, setting, rng)
    copy_ns = 0.0
    if 2 * calls * setting.sizes[2] <= RECORD_BYTES:
        participant.keep_record(setting.index, 2 * calls)
        copy_ns = session.copy_ns(setting.bases[0].native)
    messages.warm_up(2 * calls)
    looked_at, taken = rng.randrange(repeats), dict[int, list[float]]({calls: [], 2 * calls: []})
    for repeat in range(repeats):
        messages.choose_kind()  # one for both, whose difference counts
        for count in rng.sample(list(taken), 2):
            taken[count].append(messages.send(count))
            if compared and repeat == looked_at:
                messages.require_right()
    participant.forget_record(setting.index)
    return Pairs(calls=calls, short_ns=tuple(taken[calls]), long_ns=tuple(taken[2 * calls]), copy_ns=copy_ns)


class _Messages:
    """Bursts of one participant on one workload, with the values that each of their calls had."""

    def __init__(self, participant: Participant, setting: Setting, rng: random.Random) -> None:
        self._participant, self._setting, self._rng = participant, setting, rng
        self._rotation = None if setting.overlapping or setting.lean else _Rotation(setting, rng)
        self._first, self._shift = 0, 0
        self._values: Values = []
        self._kind: str | None = None
        self._results: dict[int, list[torch.Tensor]] = {}
        self._patience = 1
        """With which messages are sent; 0 where more of it was of no use."""

    def choose_kind(self) -> None:
        """In what way the values of the next messages differ from the generator's where all calls have the same."""
        self._kind = self._rng.choice(_kinds(self._setting, 2, self._rng))

    def warm_up(self, count: int) -> None:
        """The allocator learns what the calls need, and the candidate every address that will come."""
        sent = 0
        while sent == 0 or (self._rotation is not None and sent < self._rotation.sets):
            self.send(count, first=sent)
            sent += count

    def send(self, count: int, first: int | None = None) -> float:
        """The judge's nanoseconds for so many calls.

        A message whose calls were not queued in time, as on a busy host, is sent again with more patience. Where that
        is of no use either, because they wait for the device themselves, the host's work counts as it does alone.
        """
        burst = self._send(count, first)
        if not burst.queued and self._patience == 1:
            self._patience = PATIENCE
            burst = self._send(count, first)
            if not burst.queued:
                self._patience = 0
        self._results = burst.results
        return burst.judge_ns

    def _send(self, count: int, first: int | None) -> Burst:
        setting, rotation, rng, patience = self._setting, self._rotation, self._rng, max(self._patience, 1)
        look_at = rng.sample(range(count), min(LOOKED_AT, count))
        if rotation is None:
            self._first = rng.randrange(SETS)
            self._values = setting.drawn(rng) if setting.lean else setting.recombined(rng)
            self._values = setting.mixed(self._values, self._kind, rng)
            return self._participant.burst(
                setting.index, self._first, self._values, count, look_at=look_at, patience=patience
            )
        self._first = rng.randrange(rotation.sets) if first is None else first % rotation.sets
        self._shift = rng.randrange(rotation.sets)
        return self._participant.burst(
            setting.index,
            self._first,
            rotation.values(0),
            count,
            rotating=True,
            look_at=look_at,
            fill=partial(rotation.place, self._shift),
            patience=patience,
        )

    def require_right(self) -> None:
        """Compare what was looked at of the latest message."""
        for index, outputs in self._results.items():
            values, kind = self._values, self._kind
            if self._rotation is not None:
                number = self._first + index + self._shift
                values, kind = self._rotation.values(number), self._rotation.kind(number)
            require_right(self._setting, values, outputs, kind)


class _Rotation:
    """Values for all input sets, each its own; a shift gives every set another one's."""

    def __init__(self, setting: Setting, rng: random.Random) -> None:
        self.sets = len(setting.input_specs)
        self._pool = torch.full(  # not-a-number between one input and the next
            (setting.sizes[1],), 0xFF, dtype=torch.uint8, device=setting.reference.place.device
        )
        self._stride = self._pool.numel() // self.sets
        self._kinds = _kinds(setting, self.sets, rng)
        self._values = [
            self._kept(setting, number, setting.mixed(setting.recombined(rng), kind, rng))
            for number, kind in enumerate(self._kinds)
        ]

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

    def kind(self, number: int) -> str | None:
        """How these differ from the generator's."""
        return self._kinds[number % self.sets]


def _kinds(setting: Setting, count: int, rng: random.Random) -> list[str | None]:
    """For so many sets: of two neighbours one is mixed, so that messages of equal length hold equal shares of them."""
    if setting.mixture is None:
        return [None] * count
    kinds: list[str | None] = []
    while len(kinds) < count:
        kinds += rng.sample([None, rng.choice(setting.mixture.kinds)], 2)
    return kinds[:count]
