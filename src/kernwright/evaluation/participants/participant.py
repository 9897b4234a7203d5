"""The judge's handle on one runner: what it loads, what it is given and what it gave back."""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import chain
from pathlib import Path
from time import perf_counter_ns
from typing import Any, TypeVar

import torch

from kernwright.core.outcome import Crashed, TimedOut, Wrong
from kernwright.core.plan import Limits
from kernwright.core.ports import DeviceSession
from kernwright.core.shared_memory import memory_file
from kernwright.evaluation.ended import Ended
from kernwright.evaluation.problem.cases import Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.runner.kernel import may_read
from kernwright.evaluation.runner.structure import encode, flagged
from kernwright.evaluation.timing.burst_inputs import BurstInputs
from kernwright.evaluation.timing.clocks import Burst, Clock, Clocks
from kernwright.evaluation.timing.message_looks import NONE, Looks
from kernwright.evaluation.timing.pairs import Pairs

from .gate import LIMIT_NS, Gate, TooBusy
from .given import Drop, GivenResults
from .launch import Runner, RunnerBabble, RunnerDied, RunnerHog, RunnerOverdue
from .opened import Opened, lay_weights
from .opening import ELEMENTS_SHARE, ONE_FOR_SEVERAL, elements_share, fill_gaps, lies_otherwise, mismatch, opening
from .reading import Unreadable, put_weights, shared
from .replies import number, results_of, texts

ATTENTIVE_S, CLOCK_S = 0.003, 0.05
"""Beside a device there are cores enough to wait for short calls without sleeping, the latter while the clock runs."""
LAST_WORD_S = 20.0
"""For a tool that watches a runner, to say what it found when that fails."""
Found = TypeVar("Found")
MOST_WEIGHTS = 400
"""Places of so many fit into a message."""
LEAST_NS = 1.0
"""No call takes less, whatever a runner says: nothing has a logarithm."""


class Participant:
    """One source in one runner. Every method may raise `Ended`; the runner is dead by then."""

    def __init__(self, name: str, runner: Runner, session: DeviceSession, limits: Limits, scratch: Path) -> None:
        self.name = name
        self.scratch = scratch
        self.runner = runner
        self._session, self._limits = session, limits
        self._opened: dict[int, Opened] = {}
        self._gate = Gate() if session.bursts else None
        self._reads: bool | None = None
        """Whether its results are read where they lie, as on a host; else it copies them to where the judge asks."""
        self.remark: str | None = None
        """On how results of its first call lie in memory; None before that."""
        self.drop: Drop | None = None
        """Of a result, before the latest inputs came; None where that was part of a call."""
        self._given = GivenResults()
        self.pairs: dict[int, Pairs] = {}
        """Of each workload what long messages took, where that is known of it once for all."""

    def await_ready(self) -> None:
        """Until it has a hold of the device, which others' work may delay."""
        self.ask("load", {"op": "ready"}, self._limits.load_s)
        # Before any code of the candidate's is loaded, which could forbid it from then on.
        self._reads = self._gate is None and not self.runner.watched and may_read(self.runner.pid)

    @property
    def delivers(self) -> bool:
        """Whether it copies its results itself though it works on a host, in time that nobody sees."""
        return self._gate is None and self._reads is False and not self.runner.watched

    def load(self, main: str, emulate: tuple[str, str] | None = None) -> None:
        """Import the file; by a language and for a target that are to be emulated, where these are given."""
        if self._reads is None:
            self.await_ready()
        fds = [] if self._gate is None else [self._gate.fd]
        self.ask("load", {"op": "load", "main": main, "emulate": emulate}, self._limits.load_s, fds)

    def open(self, setting: Setting, entry: str, *, compiled: bool = False) -> list[str]:
        """Build the callable for one workload and share memory for it; names of weights that found no place."""
        with ExitStack() as undo:
            state, inputs, outputs = (undo.enter_context(closing(self._session.buffer(size))) for size in setting.sizes)
            lay_weights(state, setting)
            fill_gaps(inputs.bytes, setting)
            self._session.settle()
            message, fds = opening(setting, entry, compiled), [state.fd, inputs.fd, outputs.fd]
            reply = self.ask("load", {"op": "open"}, self._limits.load_s, fds, json.dumps(message).encode())
            undo.pop_all()
        state.close()
        opened = Opened(setting, inputs, outputs, flagged(reply.get("unmatched"), [*setting.state]))
        opened.apart, self._opened[setting.index] = not compiled, opened
        return opened.unmatched

    def unmatched(self, workload: int) -> list[str]:
        """What `open` gave."""
        return self._opened[workload].unmatched

    def reweigh(self, workload: int) -> None:
        """Bring the setting's weights, as they are now, to where the module has its own."""
        setting = self._opened[workload].setting
        self._given.forget()
        if self._reads:
            # All places before the first weight changes: nobody is asked anything in between.
            firsts = range(0, len(setting.state), MOST_WEIGHTS)
            places = [*chain.from_iterable(self._where(workload, first) for first in firsts)]
            self._stopped(lambda pid: put_weights(pid, places, list(setting.state.values())))
            return
        with closing(self._session.buffer(setting.sizes[0])) as state:
            lay_weights(state, setting)
            self._session.settle()
            self.ask("call", {"op": "weights", "workload": workload}, self._limits.call_s, [state.fd])

    def _where(self, workload: int, first: int) -> list[Any]:
        message = {"op": "where", "workload": workload, "first": first, "count": MOST_WEIGHTS}
        said = self.ask("call", message, self._limits.call_s).get("at")
        return said if isinstance(said, list) else []

    def fill(self, workload: int, chosen: int, values: Values, pattern: int | None = 0xFF) -> None:
        """Put these values into an input set, and `pattern` over the output slots where there is one."""
        self.drop = self._dropped() if self._given.let_go() else None
        self._opened[workload].fill(chosen, values, pattern)

    def _dropped(self) -> Drop:
        used_ns, start = self.runner.cpu_ns(), perf_counter_ns()
        self.ask("call", {"op": "drop"}, self._limits.call_s)
        self.freeze()  # else it would see the inputs come, and work on them
        taken_ns = perf_counter_ns() - start
        return float(self.runner.cpu_ns() - used_ns), float(taken_ns)

    @property
    def reads(self) -> bool:
        """Whether its results are read where they lie."""
        return self._reads is True

    def latest(self, back: int) -> tuple[list[torch.Tensor], list[torch.Tensor]] | None:
        """What `GivenResults.again` gives, of which nobody is told."""
        return self._given.again(back, self._stopped)

    def refill(self, workload: int, chosen: int, values: Values) -> None:
        """Other inputs, of which nobody is told, where the latest call had its own."""
        self._opened[workload].fill(chosen, values, None)

    def call(
        self,
        workload: int,
        chosen: int,
        values: Values,
        *,
        poison: int | None = None,
        hold: bool = False,
        twice: bool = False,
        clock: Clock | None = None,
        late_fill: bool = False,
        sent: Callable[[], None] | None = None,
    ) -> tuple[Clocks, list[torch.Tensor]]:
        """One call on an input set that `fill` has filled, and private copies of what lies in the output slots.

        `clock` says what it is timed for; where the device has a clock of its own, the call waits behind a gate until
        the host's work is done. `late_fill`: the inputs come when it waits there already, so that whatever is not
        ordered behind the gate works on other values. `sent` is called while a call without a gate runs. `twice`: of a
        problem that asks for gradients, another forward call comes before the backward one.
        """
        opened = self._opened[workload]
        extra = {"poison": poison, "twice": twice, "in_order": clock != "call" or self._gate is None}
        message = self._message("call", workload, chosen, values) | extra | _NO_GATE | {"read": self.reads}
        self._session.settle()
        start, queued = perf_counter_ns(), True
        if clock == "device" and self._gate is not None:
            fill = partial(self._fill_cold, workload, chosen, values) if late_fill else None
            reply, start, queued = self._gated(self._gate, message, opened.queue_ns, fill, None)
        else:
            reply = self.ask("call", message, self._limits.call_s, sent=sent)
        outputs = [] if self.reads else opened.outputs()
        if clock is not None and not self.reads:  # else it is waited for once, by whoever looks at them
            self._session.settle()
        judge_ns = float(perf_counter_ns() - start)
        self._require_delivery(reply, workload)
        if self._reads:
            if opened.apart and shared(reply, opened.setting.output_specs) is not None:
                raise Ended(Wrong(reason=ONE_FOR_SEVERAL))
            outputs = self._stopped(lambda pid: results_of(pid, reply, opened))
            self._given.add(opened, reply, outputs)
        if hold:  # it is not told before: whoever knew would keep what it else writes over
            self.ask("call", {"op": "hold"}, self._limits.call_s)
            self.freeze()
        if queued:
            opened.host_took(number(reply, "host_ns"))
        device_ns, call_ns = (max(LEAST_NS, number(reply, name)) for name in ("device_ns", "call_ns"))
        return Clocks(device_ns, call_ns, judge_ns, judge_ns, number(reply, "late_ns"), queued), outputs

    def _gated(
        self, gate: Gate, message: dict[str, Any], queue_ns: float, fill: Callable[[], None] | None, spec: bytes | None
    ) -> tuple[dict[str, Any], int, bool]:
        """The reply, when its work was let go by the judge's clock, and whether all of it was queued by then."""
        opened_at, queued = 0, False

        def let_go() -> None:
            nonlocal opened_at, queued
            queued = gate.await_queued(queue_ns)
            if fill is not None:
                fill()
            opened_at = gate.open()

        turn = {"turn": gate.shut(), "limit_ns": LIMIT_NS}
        reply = self.ask("call", message | turn, self._limits.call_s, spec=spec, sent=let_go)
        if gate.overdue:
            raise TooBusy
        return reply, opened_at, queued

    def _fill_cold(self, workload: int, chosen: int, values: Values) -> None:
        self.fill(workload, chosen, values)
        self._session.flush()
        self._session.settle()

    def warm(self, workload: int, chosen: int, values: Values, meanwhile: Callable[[], float] | None = None) -> None:
        """A first call, which may compile: it has the load's limit too. `meanwhile`: as `Runner.receive` has it."""
        extra = {"poison": None, "twice": False, "in_order": True, "read": False}
        message = self._message("call", workload, chosen, values) | extra | _NO_GATE
        self._given.forget()
        self._session.settle()
        reply = self.ask("first call", message, self._limits.load_s + self._limits.call_s, meanwhile=meanwhile)
        self._require_delivery(reply, workload)
        self._opened[workload].host_took(number(reply, "host_ns"))

    def _require_delivery(self, reply: dict[str, Any], workload: int) -> None:
        setting = self._opened[workload].setting
        if reply.get("delivered") is not True:
            raise Ended(Wrong(reason=mismatch(reply.get("outputs"), setting, self._session.runner_device)))
        if elements_share(reply.get("outputs"), setting):
            raise Ended(Wrong(reason=ELEMENTS_SHARE))
        if self.remark is None:
            self.remark = lies_otherwise(reply.get("outputs"), setting)

    def _stopped(self, done: Callable[[int], Found]) -> Found:
        """What is done with the memory of its process while nothing of it runs."""
        self.freeze()
        try:
            found = done(self.runner.pid)
        except Unreadable as error:
            raise Ended(Crashed(stage="call", log="", reason=str(error))) from error
        self.freeze()  # that nothing ran meanwhile
        return found

    def held(self, workload: int) -> None:
        """Have the result of the call made with `hold` delivered once more."""
        self._session.settle()  # copies of what lies where it is to be delivered may not be made yet
        self.ask("call", {"op": "held", "workload": workload}, self._limits.call_s)

    def burst(
        self,
        workload: int,
        chosen: int,
        values: Values,
        count: int,
        *,
        inputs: BurstInputs | None = None,
        looks: Looks = NONE,
        sent: Callable[[], None] | None = None,
        patience: float = 1.0,
    ) -> Burst:
        """`count` calls in one message.

        On a device that works on its own they are counted from when the judge gave them their inputs, which they had to
        wait for, until it has copied what it `looks` at. `inputs`: each call has its own, from the chosen
        set on; else all have `values`. `patience`: so many times as long as usual it waits for them to be queued.
        """
        opened = self._opened[workload]
        more = {"count": count, "sets": inputs.sets if inputs else 0}
        message = self._message("burst", workload, chosen, values) | more | _NO_GATE
        self._session.settle()
        start = perf_counter_ns()
        self._given.forget()
        if self._gate is None:
            self.ask("call", message, self._limits.call_s, sent=sent)
            return Burst(float(perf_counter_ns() - start), {})
        opened.expect(looks)
        late = partial(opened.fill_all_cold, self._session, chosen, count, inputs, values)
        plain = inputs.plain(chosen, count) if inputs else None
        reply, start, queued = self._gated(self._gate, message, patience * opened.all_queued_ns(count), late, plain)
        opened.look(count, looks)
        self._session.settle()
        taken_ns = float(perf_counter_ns() - start)
        try:
            return Burst(taken_ns, opened.results(reply.get("layouts")) if looks.whole else {}, queued)
        except ValueError as error:
            raise Ended(Crashed(stage="call", log="", reason=f"the runner broke the protocol: {error}")) from error

    def begin_messages(self, workload: int, calls: int, *, record: bool, sets: bool) -> None:
        """From now on each of up to so many `calls` in one message has an input set of its own, where `sets` says so,
        and a place for its results instead of the last one's, where `record` does."""
        about, fds = self._opened[workload].begin_messages(self._session, calls, record=record, sets=sets)
        self._session.settle()
        self.ask("call", {"op": "begin_messages", "workload": workload} | about, self._limits.call_s, fds)

    def end_messages(self, workload: int) -> None:
        """No longer; and stop."""
        self.ask("call", {"op": "end_messages", "workload": workload}, self._limits.call_s)
        self.freeze()
        self._opened[workload].end_messages()

    def queueable_calls(self, workload: int) -> int:
        """How many calls a device queues behind a gate."""
        return self._opened[workload].queueable_calls

    def vendor_share(self, workload: int, chosen: int, values: Values) -> tuple[float, list[str]]:
        """Share of a call's time in PyTorch's own operators, by the runner's word, and their names."""
        self._session.settle()
        reply = self.ask("call", self._message("share", workload, chosen, values), self._limits.call_s)
        return number(reply, "share"), texts(reply, "names")

    def copy_ns(self, workload: int, chosen: int | None = None) -> float:
        """Time to copy as many bytes as a call reads and writes: again and again, or once, of the `chosen` inputs."""
        half = {"bytes": max(1, self._opened[workload].setting.traffic_bytes // 2)}
        about = half | ({"op": "copy"} if chosen is None else self._message("copy_inputs", workload, chosen, []))
        return number(self.ask("call", about, self._limits.call_s), "ns")

    def outputs(self, workload: int) -> list[torch.Tensor]:
        """Private copies of what lies in the output slots."""
        copies = self._opened[workload].outputs()
        self._session.settle()
        return copies

    def unchanged(self, workload: int, chosen: int, values: Values) -> torch.Tensor:
        """Of each input whether its bytes are still those of `values`; not waited for."""
        return self._opened[workload].unchanged(chosen, values)

    def freeze(self) -> None:
        """Stop it until the next message; whoever is stopped has not run since."""
        try:
            self.runner.freeze()
        except RunnerHog as error:
            raise Ended(Crashed(stage="call", log="", reason=f"killed: {error.reason}")) from error

    def close(self) -> None:
        """Kill the runner and free the memory shared with it."""
        self.runner.close()
        if self._gate is not None:
            self._gate.close()
        for opened in list(self._opened.values()):
            opened.close()
        self._opened = {}

    def _message(self, op: str, workload: int, chosen: int, values: Values) -> dict[str, Any]:
        plain = [encode(v) for v in values if not isinstance(v, torch.Tensor)]
        return {"op": op, "workload": workload, "set": chosen, "values": plain}

    def ask(
        self,
        stage: str,
        message: dict[str, Any],
        limit_s: float,
        fds: Sequence[int] = (),
        spec: bytes | None = None,
        sent: Callable[[], None] | None = None,
        meanwhile: Callable[[], float] | None = None,
    ) -> dict[str, Any]:
        """Send one message and wait for its reply, `limit_s` at most; `spec` goes as a memory file.

        `sent` is called between the two, `meanwhile` while it waits.
        """
        try:
            self.runner.thaw()
            if spec is None:
                self.runner.send(message, fds)
            else:
                with memory_file(spec) as fd:
                    self.runner.send(message, [*fds, fd])
            if sent is not None:
                sent()
            awake_s = CLOCK_S if sent is not None else ATTENTIVE_S
            attentive_s = awake_s if self._session.bursts else 0.0
            reply = self.runner.receive(limit_s, attentive_s=attentive_s, meanwhile=meanwhile)
        except RunnerDied as error:
            raise Ended(Crashed(stage=stage, log=error.log, reason=f"it died in {stage}: {error.reason}")) from error
        except RunnerOverdue as error:
            late = TimedOut(stage=stage, limit_s=limit_s, reason=f"{stage} took longer than {limit_s:g} s; killed")
            raise Ended(late) from error
        except RunnerHog as error:
            raise Ended(Crashed(stage=stage, log="", reason=f"killed in {stage}: {error.reason}")) from error
        except RunnerBabble as error:
            reason = f"the runner broke the protocol in {stage}: {error.reason}"
            raise Ended(Crashed(stage=stage, log="", reason=reason)) from error
        if reply.get("ok") is not True:
            if self.runner.watched:
                self.runner.finish(LAST_WORD_S)
            self.runner.close()
            said = (str(reply.get("error")).splitlines() or [""])[0][:500]
            # A program around the runner that fails at its start has written no report, but may have printed why.
            log = str(reply.get("log", "")) or (self.runner.log() if self.runner.watched else "")
            raise Ended(Crashed(stage=stage, log=log[:8192], reason=f"it raised in {stage}: {said}"))
        return reply


_NO_GATE = {"turn": 0, "limit_ns": 0}
