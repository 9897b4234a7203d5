"""One workload that a runner has open: the memory that it shares with the judge."""

from collections import deque
from statistics import median

import torch

from kernwright.core.ports import Buffer, DeviceSession
from kernwright.evaluation.problem.cases import Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.runner.structure import view
from kernwright.evaluation.timing.burst_inputs import BurstInputs
from kernwright.evaluation.timing.message_looks import Copies, Looks

from .record import CallMemory, Record, layouts_of, results_in

LEAST_QUEUE_NS, MOST_QUEUE_NS = 1_000_000, 10_000_000
"""How long a call may take to be queued behind its gate, by what it took before. Host work beyond the most stays
visible in device time, and so does that of a call that waits for the device itself."""
MOST_ALL_QUEUED_NS = 100_000_000
"""The same of a message with many calls."""
REMEMBERED = 15
"""Calls of which it is known what the host needed for them."""


_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class Opened:
    """Input sets and output slots of one workload, as the judge sees them."""

    def __init__(self, setting: Setting, inputs: Buffer, outputs: Buffer, unmatched: list[str]) -> None:
        self.setting = setting
        self.unmatched = unmatched
        """Weights that found no place, by the runner's word."""
        self.apart = True
        """Whether results have to lie apart where the reference's do; what a compiler makes lies as it likes."""
        self._host_ns = deque[float](maxlen=REMEMBERED)
        self.record: Record | None = None
        """Where the results of many calls go, while they are wanted."""
        self.own_inputs: CallMemory | None = None
        """Where each of many calls has an input set of its own."""
        self._copies: Copies | None = None
        """Of results that were looked at, of these calls."""
        self._of: tuple[int, ...] = ()
        self._buffers = (inputs, outputs)
        self._input_bytes, self._output_bytes = inputs.bytes, outputs.bytes
        self._sets = [[None if s is None else view(inputs.bytes, s) for s in specs] for specs in setting.input_specs]
        self._slots = [view(outputs.bytes, spec) for spec in setting.output_specs]

    @property
    def host_ns(self) -> float:
        """What the host was seen to need for a call, by the runner's word; the median of the latest, since others' work
        lengthens some."""
        return median(self._host_ns) if self._host_ns else 0.0

    def host_took(self, host_ns: float) -> None:
        """Of one more call."""
        self._host_ns.append(host_ns)

    @property
    def queue_ns(self) -> float:
        """How long to wait until the host's work is done."""
        return min(2 * self.host_ns + LEAST_QUEUE_NS, MOST_QUEUE_NS)

    def all_queued_ns(self, calls: int) -> float:
        """The same for so many calls of one message."""
        # An allocator that gives memory back whenever the device is idle takes long over the first of them.
        return min(3 * calls * self.host_ns + 10_000_000, MOST_ALL_QUEUED_NS)

    @property
    def queueable_calls(self) -> int:
        """How many calls a device queues behind a gate, each with copies of its results.

        About a thousand launches, each of which takes 4 µs of the host's time.
        """
        return int(800 / (max(self.host_ns / 4_000, 1.0) + len(self._slots)))

    def fill(self, chosen: int, values: Values, pattern: int | None) -> None:
        """Put these values into an input set, and `pattern` over the output slots where there is one."""
        for slot, value in zip(self._sets[chosen], values, strict=True):
            if slot is not None:
                slot.copy_(value)
        if pattern is not None:
            self._output_bytes.fill_(pattern)

    def clear(self, calls: int) -> None:
        """Poison where the results of so many calls go."""
        self._output_bytes.fill_(0xFF)
        if self.record is not None:
            self.record.clear(calls)

    def fill_all_cold(
        self, session: DeviceSession, chosen: int, count: int, inputs: BurstInputs | None, values: Values
    ) -> None:
        """Inputs of so many calls, from the chosen set on, or of all the same ones, with caches emptied."""
        self.clear(count)
        if inputs is None or self.own_inputs is None:
            self.fill(chosen, values, 0xFF)
            session.flush()
        else:
            inputs.place(self.own_inputs.bytes, chosen, count)
            session.flush()
            # Last of all, so that whoever does not wait for the gate has no time to work on the right values before it.
            inputs.finish(self.own_inputs.bytes, chosen, count)
        session.settle()  # once: a device that has to wait for its turn beside the gate does so each time

    def begin_messages(
        self, session: DeviceSession, calls: int, *, record: bool, sets: bool
    ) -> tuple[dict[str, int], list[int]]:
        """Have memory for the results, and the inputs, of so many calls; what a runner is told of it, and its files."""
        setting, fds = self.setting, list[int]()
        about = {"record": 0, "stride": setting.sizes[2], "inputs": 0, "set_bytes": setting.set_bytes, "calls": calls}
        if record:
            self.record = Record(session, calls, setting.sizes[2])
            about["record"], fds = self.record.nbytes, [self.record.fd]
        if sets:
            self.own_inputs = CallMemory(session, calls, setting.set_bytes)
            about["inputs"], fds = self.own_inputs.nbytes, [*fds, self.own_inputs.fd]
        return about, fds

    def expect(self, looks: Looks) -> None:
        """Have memory for what is to be copied of a message's results."""
        count = len(looks.calls) if self.record else 1
        if self._copies is None or self._copies.looks < count:
            self._copies = Copies(self._output_bytes.device, self.setting.sizes[2], count)

    def look(self, calls: int, looks: Looks) -> None:
        """Copy of what these of so many calls gave, or the last where no record is kept."""
        assert self._copies is not None
        self._of = looks.calls if self.record else (calls - 1,)
        last = self._output_bytes[: self.setting.sizes[2]]
        self._copies.take([self.record.of(call) if self.record else last for call in self._of], looks.phase)

    def results(self, layouts: object) -> dict[int, list[torch.Tensor]]:
        """What the latest look saw, by call; the next one overwrites it. `layouts`: how the runner says that it lies.

        Raises:
            ValueError: as `layouts_of`.
            Ended: as `Copies.whole`.
        """
        assert self._copies is not None
        specs = self.setting.output_specs
        known = layouts_of(layouts if self.record else None, specs)
        return {
            call: results_in(place, specs, known) for call, place in zip(self._of, self._copies.whole(), strict=True)
        }

    def outputs(self) -> list[torch.Tensor]:
        """Private copies of what lies in the output slots; a device may still be making them."""
        return [slot.clone() for slot in self._slots]

    def unchanged(self, chosen: int, values: Values) -> torch.Tensor:
        """Of each input whether its bytes are still those of `values`: truth values where the inputs are, not waited
        for."""
        device = self._output_bytes.device
        same = [torch.ones((), dtype=torch.bool, device=device) for _ in values]
        for index, (slot, value) in enumerate(zip(self._sets[chosen], values, strict=True)):
            if slot is not None:
                same[index] = (_bits(slot) == _bits(value)).all()
        return torch.stack(same) if same else torch.ones(0, dtype=torch.bool, device=device)

    def end_messages(self) -> None:
        """Give up what long messages need."""
        for memory in (self.record, self.own_inputs):
            if memory is not None:
                memory.close()
        self.record = self.own_inputs = None
        self._copies = None

    def close(self) -> None:
        """Free the memory; nothing of this can be used afterwards."""
        self._sets, self._slots = [], []
        del self._input_bytes, self._output_bytes
        for buffer in self._buffers:
            buffer.close()
        self.end_messages()


def lay_weights(memory: Buffer, setting: Setting) -> None:
    """Put the weights of a setting, as they are now, where a runner is to find them."""
    for name, spec in setting.state_specs.items():
        view(memory.bytes, spec).copy_(setting.state[name])


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    """The same bytes as integers: every not-a-number is equal to itself then."""
    numbers = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
    return numbers.resolve_neg().view(_INTEGERS[numbers.itemsize]) if numbers.is_floating_point() else numbers
