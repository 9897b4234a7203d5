"""Many calls in one message: what the judge's own clock says of a short one."""

import random
from collections.abc import Callable
from functools import partial
from statistics import median

import torch

from kernwright.core.ports import DeviceSession

from .cases import Values
from .clocks import Burst
from .footprint import RECORD_BYTES
from .pairs import Pairs
from .participant import Participant
from .runner.structure import view
from .setting import MOST_SETS, SETS, Setting
from .timing import require_met, require_right

BURST_NS = 800_000
"""What the shorter message of a pair takes, about."""
LONGEST_NS, MOST_CALLS = 2_000_000, 192
"""More calls tell more, until the shorter message takes as long as this, or holds so many. Up to there what a message
takes beside its calls varies by 5 to 30 µs on an H200, by 100 µs where both are three times as long."""
REPEATS, MOST_REPEATS = 3, 9
"""Pairs that are sent at a time, at the least and at the most."""
PATIENCE = 8
"""So many times as long as usual the judge waits for calls to be queued that were not the first time."""
LOOKED_AT, PAIRS_LOOKED_AT = 3, 3
"""Results that are compared of a message, and pairs of messages of which they are; nobody else knows before which."""
Enough = Callable[[int, int], bool]
"""Whether so many calls, in so many pairs of messages, tell enough of one."""


def slope_ns(
    participant: Participant, setting: Setting, *, calls: int = 64, repeats: int = 5, compared: bool = False
) -> float:
    """The judge's time per call: the difference between 2K and K calls in one message, over K.

    Raises:
        Ended: the result of a message's last call, where it is `compared`, is wrong.
    """
    values = setting.bases[0].values
    taken = dict[int, list[float]]({calls: [], 2 * calls: []})
    for _ in range(repeats):
        for count, each in taken.items():
            participant.fill(setting.index, 0, values)
            each.append(participant.burst(setting.index, 0, values, count).judge_ns)
            participant.freeze()  # else it may slow down those who are timed after it
            if compared:
                require_met(setting, setting.bases[0], participant.outputs(setting.index))
    short, long = map(median, taken.values())
    return (long - short) / calls


class Bursts:
    """Pairs of long messages, with K and with 2K calls, to one participant on one workload.

    The inputs come when the calls are queued, other ones for each call where there is room, and no cache holds them by
    then. Every call's results are copied to the judge's memory as part of the message, where there is room; some of a
    which nobody but the judge knew which they would be, are `compared`. Those of a baseline that
    lives on cannot be: its weights are those of the evaluation that it was started for.
    """

    def __init__(
        self,
        participant: Participant,
        setting: Setting,
        shown_ns: float,
        rng: random.Random,
        session: DeviceSession,
        *,
        compared: bool = True,
    ) -> None:
        """`shown_ns`: what the participant's calls show."""
        self._participant, self._setting, self._shown_ns = participant, setting, max(shown_ns, 1.0)
        self._rng, self._session, self._compared = rng, session, compared

    def first(self, enough: Enough, repeats: int = REPEATS) -> Pairs:
        """With the fewest calls that are `enough`, and with as many of such pairs as it takes.

        A device's queue holds more calls than a busy host lets expect: where those are not queued, fewer are sent, at
        last as many as surely are.

        Raises:
            Ended: one of the results is wrong; so for the others.
        """
        surely = self._surely_queued()
        most = self._most(surely)
        calls = next((calls for calls in range(surely, most) if enough(calls, repeats)), most)
        for some in (calls, calls // 2, calls // 4):
            if some > surely:
                found = self._send(some, _repeats(enough, some, repeats), patient=False)
                if found.queued:
                    return found
        return self._send(surely, _repeats(enough, surely, repeats))

    def further(self, known: Pairs, repeats: int = REPEATS) -> Pairs:
        """The `known` ones and others of as many calls."""
        return known.and_further(self._send(known.calls, repeats))

    def longer(self, known: Pairs, repeats: int = REPEATS) -> Pairs:
        """Instead of the `known` ones others of twice as many calls; the former where those are not queued."""
        calls = min(2 * known.calls, self._most(known.calls))
        if known.queued and calls > known.calls:
            found = self._send(calls, repeats, patient=False)
            if found.queued:
                return found
        return known

    def _surely_queued(self) -> int:
        """So many calls that a message's noise is small beside them, and so few that a device queues them all."""
        most = self._participant.queueable_calls(self._setting.index) // 2
        return int(max(2, min(most, MOST_SETS // 2, BURST_NS / self._shown_ns)))

    def _most(self, calls: int) -> int:
        """The most that tell more than so many `calls`, each of which is kept if those are."""
        most = min(MOST_CALLS, LONGEST_NS / self._shown_ns)
        if self._recorded(calls):
            most = min(most, RECORD_BYTES / (2 * self._setting.sizes[2]))
        return max(calls, int(most))

    def _recorded(self, calls: int) -> bool:
        return 2 * calls * self._setting.sizes[2] <= RECORD_BYTES

    def _send(self, calls: int, repeats: int, *, patient: bool = True) -> Pairs:
        setting, rng, messages = self._setting, self._rng, _Messages(self._participant, self._setting, self._rng)
        messages.patience = 1 if patient else 0
        copy_ns = 0.0
        if self._recorded(calls):
            self._participant.keep_record(setting.index, 2 * calls)
            copy_ns = self._session.copy_ns(setting.bases[0].native)
        messages.warm_up(2 * calls)
        looked_at = rng.sample(range(repeats), min(PAIRS_LOOKED_AT, repeats))
        taken = dict[int, list[float]]({calls: [], 2 * calls: []})
        messages.queued = True
        for repeat in range(repeats):
            messages.choose_kind()  # one for both, whose difference counts
            for count in rng.sample(list(taken), 2):
                taken[count].append(messages.send(count))
                if self._compared and repeat in looked_at:
                    messages.require_right()
            if not (patient or messages.queued):
                break  # these are of no use
        self._participant.forget_record(setting.index)
        return Pairs(
            calls=calls,
            short_ns=tuple(taken[calls]),
            long_ns=tuple(taken[2 * calls]),
            copy_ns=copy_ns,
            queued=messages.queued,
        )


class _Messages:
    """Bursts of one participant on one workload, with the values that each of their calls had."""

    def __init__(self, participant: Participant, setting: Setting, rng: random.Random) -> None:
        self._participant, self._setting, self._rng = participant, setting, rng
        self._rotation = None if setting.overlapping or setting.lean else _Rotation(setting, rng)
        self._first, self._shift = 0, 0
        self._values: Values = []
        self._kind: str | None = None
        self._results: dict[int, list[torch.Tensor]] = {}
        self.patience = 1
        """With which messages are sent; 0 where more of it was, or is, of no use."""
        self.queued = True
        """Whether the calls of all of them were queued before they began."""

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
        if not burst.queued and self.patience == 1:
            self.patience = PATIENCE
            burst = self._send(count, first)
            if not burst.queued:
                self.patience = 0
        self.queued = self.queued and burst.queued
        self._results = burst.results
        return burst.judge_ns

    def _send(self, count: int, first: int | None) -> Burst:
        setting, rotation, rng, patience = self._setting, self._rotation, self._rng, max(self.patience, 1)
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


def _repeats(enough: Enough, calls: int, least: int) -> int:
    return next((count for count in range(least, MOST_REPEATS) if enough(calls, count)), max(least, MOST_REPEATS))


def _kinds(setting: Setting, count: int, rng: random.Random) -> list[str | None]:
    """For so many sets: of two neighbours one is mixed, so that messages of equal length hold equal shares of them."""
    if setting.mixture is None:
        return [None] * count
    kinds: list[str | None] = []
    while len(kinds) < count:
        kinds += rng.sample([None, rng.choice(setting.mixture.kinds)], 2)
    return kinds[:count]
