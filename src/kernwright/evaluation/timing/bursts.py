"""Many calls in one message: what the judge's own clock says of a short one."""

import random
from collections.abc import Callable
from statistics import median
from typing import Self

import torch

from kernwright.core.ports import DeviceSession
from kernwright.evaluation.footprint import BURST_CALLS, burst_bytes
from kernwright.evaluation.participants.gate import patient
from kernwright.evaluation.participants.laying_out import SETS
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.participants.record import CallMemory
from kernwright.evaluation.problem.cases import Values
from kernwright.evaluation.problem.setting import Setting

from .burst_inputs import BurstInputs, kinds_of
from .clocks import Burst
from .kept_calls import require_met
from .message_looks import Looks
from .pairs import Pairs, few_of

BURST_NS, FEW_CALLS = 800_000, 64
"""What K calls take, about, and how many they are, where that is enough; the longer message of a pair has 2K."""
LONGEST_NS, MOST_CALLS = 2_000_000, BURST_CALLS // 2
"""More calls tell more, until K of them take as long as this, or are so many. Up to there what a message takes beside
its calls varies by 5 to 30 µs on an H200, by 100 µs where both are three times as long."""
REPEATS, MOST_REPEATS = 3, 9
"""Pairs that are sent at a time, at the least and at the most."""
PATIENCE = 8
"""So many times as long as usual the judge waits for calls to be queued that were not the first time."""
LOOKED_AT, OF_FEW, PAIRS_LOOKED_AT, FURTHER_LOOKED_AT = 5, 2, 3, 1
"""Results that are copied of a message, and how many of these are compared where it is a pair's shorter one; and pairs
of messages of which they are, among the first and among further ones; nobody else knows before which. As many copies of
every message: a pair's difference must hold none."""
Enough = Callable[[int, int], bool]
"""Whether K calls, in so many pairs of messages, tell enough of one."""
Keep = Callable[[Values, list[torch.Tensor], str | None], None]
"""Takes what a call was given, what it gave, and in what way the values differ from the generator's."""


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
    """Pairs of long messages, with few and with 2K calls, to one participant on one workload.

    The inputs come when the calls are queued, other ones for each call where there is room, and no cache holds them by
    then. Every call's results are copied to the judge's memory as part of the message, where there is room; some, of
    which nobody but the judge knew which they would be, go to `keep`, to be compared. So who leaves calls out, or has
    some give what others gave, is found the likelier the more they are. Those of a baseline that lives on cannot be
    compared: its weights are those of the evaluation that it was started for.
    """

    def __init__(
        self,
        participant: Participant,
        setting: Setting,
        shown_ns: float,
        rng: random.Random,
        session: DeviceSession,
        *,
        keep: Keep | None = None,
        usual: Pairs | None = None,
    ) -> None:
        """`shown_ns`: what the participant's calls show; `usual`: those of a baseline on the same workload; without
        `keep` no results are kept."""
        self._participant, self._setting, self._shown_ns = participant, setting, max(shown_ns, 1.0)
        self._rng, self._session, self._keep = rng, session, keep
        room = burst_bytes(session.memory_bytes, max(setting.sizes[2], setting.set_bytes)) // 2
        self._records = 0 < setting.sizes[2] <= room
        self._has_sets = 0 < setting.set_bytes <= room
        bounds = (setting.sizes[2], self._records), (setting.set_bytes, self._has_sets)
        self.room = min((room // nbytes for nbytes, bounded in bounds if bounded), default=MOST_CALLS)
        """The largest K for which there is memory."""
        self._begun, self._warmed = False, 0
        self._sets: CallMemory | None = None
        """The judge's own copy of the calls' input sets."""
        self._inputs: BurstInputs | None = None
        """What lies there, for as long as messages have as many calls."""
        # Not while this participant may keep the device busy.
        self._copy_ns = usual.copy_ns if usual else session.copy_ns(setting.bases[0].native) if self._records else 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        if self._sets is not None:
            self._inputs = None
            self._sets.close()
        if failure is not None:
            return  # it is at its end
        if self._begun:
            self._participant.end_messages(self._setting.index)
        else:
            self._participant.freeze()

    def first(self, enough: Enough, repeats: int = REPEATS) -> Pairs:
        """With the fewest calls that are `enough`, and with as many of such pairs as it takes.

        A device's queue holds more calls than a busy host lets expect: where those are not queued, fewer are sent, at
        last as many as surely are.
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
        """Others of as many calls as the `known` ones."""
        return self._send(known.calls, repeats, looked_at=FURTHER_LOOKED_AT)

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
        return min(self.room, int(max(2, min(most, FEW_CALLS, BURST_NS / (self._shown_ns + self._copy_ns)))))

    def _most(self, calls: int) -> int:
        """The most that tell more than so many `calls`."""
        return max(calls, self.most_of(self._shown_ns))

    def most_of(self, shown_ns: float) -> int:
        """The largest K for calls of such a length."""
        return int(min(MOST_CALLS, self.room, max(2, LONGEST_NS / (shown_ns + self._copy_ns))))

    def _send(self, calls: int, repeats: int, *, patient: bool = True, looked_at: int = PAIRS_LOOKED_AT) -> Pairs:
        setting, rng = self._setting, self._rng
        self._begin(calls)
        messages = _Messages(self._participant, setting, rng, self._made(2 * calls), min(LOOKED_AT, self.room))
        messages.patience = 1 if patient else 0
        if 2 * calls > self._warmed:  # the allocator learns what the calls need, and the candidate the addresses
            messages.send(2 * calls, whole=False)
            self._warmed = 2 * calls
        compared = rng.sample(range(repeats), min(looked_at, repeats))
        few = few_of(calls)
        taken = dict[int, list[float]]({few: [], 2 * calls: []})
        messages.queued = True
        for repeat in range(repeats):
            messages.choose_kind()  # one for both, whose difference counts
            keep = self._keep if repeat in compared else None
            for count in rng.sample(list(taken), 2):
                taken[count].append(messages.send(count, whole=keep is not None))
                if keep is not None:
                    messages.give(keep, OF_FEW if count == few else LOOKED_AT)
            if not (patient or messages.queued):
                break  # these are of no use
        return Pairs(
            calls=calls,
            short_ns=tuple(taken[few]),
            long_ns=tuple(taken[2 * calls]),
            copy_ns=self._copy_ns,
            queued=messages.queued,
        )

    def _made(self, sets: int) -> BurstInputs | None:
        """So many input sets; of those that are there already some are made anew."""
        if self._sets is None:
            return None
        if self._inputs is not None and self._inputs.sets == sets:
            self._inputs.renew(self._rng)
        else:
            self._inputs = BurstInputs(self._setting, self._rng, sets, self._sets.bytes)
        return self._inputs

    def _begin(self, calls: int) -> None:
        """Have memory for as many calls as there may be, and for twice so many: a baseline had more of them while it
        showed to be faster."""
        if not self._begun:
            most = 2 * self._most(max(calls, self._surely_queued()))
            self._participant.begin_messages(self._setting.index, most, record=self._records, sets=self._has_sets)
            self._begun = True
            # Not of PyTorch's, which would keep it: only who times has it.
            self._sets = CallMemory(self._session, most, self._setting.set_bytes) if self._has_sets else None


class _Messages:
    """Bursts of one participant on one workload, with the values that each of their calls had."""

    def __init__(
        self,
        participant: Participant,
        setting: Setting,
        rng: random.Random,
        inputs: BurstInputs | None,
        looks: int,
    ) -> None:
        """`inputs`: a set for each call; None: all calls have the same. `looks`: results copied of each message."""
        self._looks = looks
        self._participant, self._setting, self._rng, self._inputs = participant, setting, rng, inputs
        self._first = 0
        self._values: Values = []
        self._kind: str | None = None
        self._results: dict[int, list[torch.Tensor]] = {}
        self.patience = 1
        """With which messages are sent; 0 where more of it was, or is, of no use."""
        self.queued = True
        """Whether the calls of all of them were queued before they began."""

    def choose_kind(self) -> None:
        """In what way the values of the next messages differ from the generator's where all calls have the same."""
        self._kind = self._rng.choice(kinds_of(self._setting, 2, self._rng))

    def send(self, count: int, *, whole: bool) -> float:
        """The judge's nanoseconds for so many calls; `whole`: what is looked at may be asked for by `give`.

        A message whose calls were not queued in time, as on a busy host, is sent again with more patience. Where that
        is of no use either, because they wait for the device themselves, the host's work counts as it does alone.
        """
        burst = self._send(count, whole)
        if not burst.queued and self.patience == 1:
            self.patience = PATIENCE
            burst = self._send(count, whole)
            if not burst.queued:
                self.patience = 0
        self.queued = self.queued and burst.queued
        self._results = burst.results
        return burst.judge_ns

    @patient
    def _send(self, count: int, whole: bool) -> Burst:
        setting, inputs, rng, patience = self._setting, self._inputs, self._rng, max(self.patience, 1)
        look_at = rng.sample(range(count), min(self._looks, count))
        look_at += rng.choices(look_at, k=self._looks - len(look_at))
        if inputs is None:
            self._first = rng.randrange(SETS)
            self._values = setting.drawn(rng) if setting.lean else setting.recombined(rng)
            self._values = setting.mixed(self._values, self._kind, rng)
        else:
            inputs.choose(rng)
            self._first = rng.randrange(inputs.sets)
        return self._participant.burst(
            setting.index,
            self._first,
            self._values if inputs is None else [],  # else each call has its own
            count,
            inputs=inputs,
            looks=Looks(tuple(look_at), rng.random(), whole),
            patience=patience,
        )

    def give(self, keep: Keep, most: int) -> None:
        """Copies of what was looked at of the latest message, so many at the most."""
        looked_at = [*self._results.items()]
        for index, outputs in self._rng.sample(looked_at, min(most, len(looked_at))):
            values, kind = self._values, self._kind
            if self._inputs is not None:
                number = self._first + index
                values, kind = self._inputs.values(number), self._inputs.kind(number)
            keep(values, [output.clone(memory_format=torch.contiguous_format) for output in outputs], kind)


def _repeats(enough: Enough, calls: int, least: int) -> int:
    return next((count for count in range(least, MOST_REPEATS) if enough(calls, count)), max(least, MOST_REPEATS))
