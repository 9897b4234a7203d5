"""The judge's handle on one runner: what it loads, what it is given and what it gave back."""

import json
import os
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import torch

from kernwright.core.outcome import Crashed, Outcome, TimedOut, Wrong
from kernwright.core.plan import Limits
from kernwright.core.ports import Buffer, DeviceSession

from .launch import Runner, RunnerBabble, RunnerDied, RunnerHog, RunnerOverdue
from .reference import Values
from .runner.precision import NARROW
from .runner.structure import encode, view
from .setting import Setting


class Ended(Exception):
    """A participant came to an end; `outcome` says which."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.kind)
        self.outcome = outcome


ATTENTIVE_S = 0.003
"""Beside a device there are cores enough to wait for short calls without sleeping."""
MOST_SPIN_NS = 10_000_000
"""Host work beyond this stays visible in device time."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """Nanoseconds of one call, by the runner's clock and by the judge's."""

    device_ns: float
    call_ns: float
    judge_ns: float
    """From asking for the call that gave `device_ns` to having its outputs, less what the device was told to spin."""
    judge_call_ns: float
    """The same of the call that gave `call_ns`."""
    late: bool = False
    """Whether the device was busy after the call's end, which `device_ns` then includes."""


@dataclass(slots=True)
class _Opened:
    setting: Setting
    inputs: tuple[list[torch.Tensor | None], ...]
    outputs: list[torch.Tensor]
    output_bytes: torch.Tensor
    buffers: tuple[Buffer, Buffer]
    host_ns: float = 0.0
    """What the host was seen to need for one call, by the runner's word."""

    @property
    def spin_ns(self) -> int:
        """Long enough to hide the host's work."""
        return int(min(1.5 * self.host_ns + 30_000, MOST_SPIN_NS))


class Participant:
    """One source in one runner. Every method may raise `Ended`; the runner is dead by then."""

    def __init__(self, name: str, runner: Runner, session: DeviceSession, limits: Limits, scratch: Path) -> None:
        self.name = name
        self.scratch = scratch
        self.runner = runner
        self._session = session
        self._limits = limits
        self._opened: dict[int, _Opened] = {}

    def load(self, main: str, emulate: tuple[str, str] | None = None) -> None:
        """Import the file; by a language and for a target that are to be emulated, where these are given."""
        self.ask("load", {"op": "load", "main": main, "emulate": emulate}, self._limits.load_s)

    def open(self, setting: Setting, entry: str, *, compiled: bool = False) -> list[str]:
        """Build the callable for one workload and share memory for it; names of weights that found no place."""
        with ExitStack() as undo:
            state, inputs, outputs = (undo.enter_context(closing(self._session.buffer(size))) for size in setting.sizes)
            for name, spec in setting.state_specs.items():
                view(state.bytes, spec).copy_(setting.state[name])
            self._session.settle()
            message = _opening(setting, entry, compiled)
            fds = [state.fd, inputs.fd, outputs.fd]
            reply = self.ask("load", {"op": "open"}, self._limits.load_s, fds, json.dumps(message).encode())
            undo.pop_all()
        state.close()
        self._opened[setting.index] = _Opened(
            setting=setting,
            inputs=tuple(
                [None if s is None else view(inputs.bytes, s) for s in specs] for specs in setting.input_specs
            ),
            outputs=[view(outputs.bytes, spec) for spec in setting.output_specs],
            output_bytes=outputs.bytes,
            buffers=(inputs, outputs),
        )
        return _texts(reply, "unmatched")

    def fill(self, workload: int, chosen: int, values: Values, pattern: int = 0xFF) -> None:
        """Put these values into an input set and `pattern` over the output slots."""
        opened = self._opened[workload]
        for slot, value in zip(opened.inputs[chosen], values, strict=True):
            if slot is not None:
                slot.copy_(value)
        opened.output_bytes.fill_(pattern)

    def call(
        self,
        workload: int,
        chosen: int,
        values: Values,
        *,
        poison: int | None = None,
        hold: bool = False,
        hide_host: bool = False,
    ) -> tuple[Clocks, list[torch.Tensor]]:
        """One call on an input set that `fill` has filled, and private copies of what lies in the output slots.

        `hide_host`: have the device spin first, so that its time holds none of the host's.
        """
        opened = self._opened[workload]
        spin_ns = opened.spin_ns if hide_host else 0
        extra = {"poison": poison, "hold": hold, "spin_ns": spin_ns}
        self._session.settle()
        start = perf_counter_ns()
        reply = self.ask("call", self._message("call", workload, chosen, values) | extra, self._limits.call_s)
        outputs = self.outputs(workload)
        judge_ns = float(perf_counter_ns() - start) - spin_ns
        self._require_delivery(reply, workload)
        opened.host_ns = _number(reply, "host_ns")
        device_ns, call_ns, late_ns = (_number(reply, name) for name in ("device_ns", "call_ns", "late_ns"))
        return Clocks(device_ns, call_ns, judge_ns, judge_ns, late=late_ns > 0), outputs

    def warm(self, workload: int, chosen: int, values: Values) -> None:
        """A first call, which may compile: it has the load's limit too."""
        message = {**self._message("call", workload, chosen, values), "poison": None, "hold": False, "spin_ns": 0}
        self._session.settle()
        self._require_delivery(self.ask("first call", message, self._limits.load_s + self._limits.call_s), workload)

    def _require_delivery(self, reply: dict[str, Any], workload: int) -> None:
        if reply.get("delivered") is not True:
            setting = self._opened[workload].setting
            raise Ended(Wrong(reason=_mismatch(reply.get("outputs"), setting, self._session.runner_device)))

    def held(self, workload: int) -> None:
        """Have the result of the call made with `hold` delivered once more."""
        self.ask("call", {"op": "held", "workload": workload}, self._limits.call_s)

    def burst(self, workload: int, chosen: int, values: Values, count: int, *, spin_ns: int = 0) -> tuple[float, float]:
        """Judge's nanoseconds for `count` calls in one message, and the runner's for asking the device for them."""
        message = {**self._message("burst", workload, chosen, values), "count": count, "spin_ns": spin_ns}
        self._session.settle()
        start = perf_counter_ns()
        reply = self.ask("call", message, self._limits.call_s)
        return float(perf_counter_ns() - start), _number(reply, "host_ns")

    def host_ns(self, workload: int) -> float:
        """What the host needed for the latest call, by the runner's word."""
        return self._opened[workload].host_ns

    def queueable_calls(self, workload: int) -> int:
        """How many calls a device queues while it spins: about a thousand launches, each 4 µs of the host's time."""
        return int(800 * 4_000 / max(self._opened[workload].host_ns, 4_000.0))

    def vendor_share(self, workload: int, chosen: int, values: Values) -> tuple[float, list[str]]:
        """Share of a call's time in PyTorch's own operators, by the runner's word, and their names."""
        self._session.settle()
        reply = self.ask("call", self._message("share", workload, chosen, values), self._limits.call_s)
        return _number(reply, "share"), _texts(reply, "names")

    def copy_ns(self, workload: int) -> float:
        """Time to copy so much that as many bytes are read and written as one call's inputs and outputs hold."""
        half = max(1, self._opened[workload].setting.traffic_bytes // 2)
        reply = self.ask("call", {"op": "copy", "bytes": half}, self._limits.call_s)
        return _number(reply, "ns")

    def outputs(self, workload: int) -> list[torch.Tensor]:
        """Private copies of what lies in the output slots."""
        copies = [slot.clone() for slot in self._opened[workload].outputs]
        self._session.settle()
        return copies

    def changed_input(self, workload: int, chosen: int, values: Values) -> int | None:
        """Index of the first input whose bytes are no longer those of `values`."""
        for index, (slot, value) in enumerate(zip(self._opened[workload].inputs[chosen], values, strict=True)):
            if slot is not None and not _same_bytes(slot, value):
                return index
        return None

    def freeze(self) -> None:
        """Stop it until the next message."""
        try:
            self.runner.freeze()
        except RunnerHog as error:
            raise Ended(Crashed(stage="call", log="", reason=f"killed: {error.reason}")) from error

    def close(self) -> None:
        """Kill the runner and free the memory shared with it."""
        self.runner.close()
        for opened in list(self._opened.values()):
            buffers = opened.buffers
            opened.inputs, opened.outputs = (), []
            del opened.output_bytes
            for buffer in buffers:
                buffer.close()
        self._opened = {}

    def _message(self, op: str, workload: int, chosen: int, values: Values) -> dict[str, Any]:
        plain = [encode(v) for v in values if not isinstance(v, torch.Tensor)]
        return {"op": op, "workload": workload, "set": chosen, "values": plain}

    def ask(
        self, stage: str, message: dict[str, Any], limit_s: float, fds: Sequence[int] = (), spec: bytes | None = None
    ) -> dict[str, Any]:
        """Send one message and wait for its reply, `limit_s` at most; `spec` goes as a memory file."""
        try:
            self.runner.thaw()
            if spec is None:
                self.runner.send(message, fds)
            else:
                with _memory_file(spec) as fd:
                    self.runner.send(message, [*fds, fd])
            reply = self.runner.receive(limit_s, attentive_s=ATTENTIVE_S if self._session.bursts else 0.0)
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
            self.runner.close()
            said = (str(reply.get("error")).splitlines() or [""])[0][:500]
            log = str(reply.get("log", ""))[:8192]
            raise Ended(Crashed(stage=stage, log=log, reason=f"it raised in {stage}: {said}"))
        return reply


class _memory_file:  # noqa: N801  a context manager, used like a function
    def __init__(self, data: bytes) -> None:
        self._data = data

    def __enter__(self) -> int:
        self._fd = os.memfd_create("spec")
        os.write(self._fd, self._data)
        return self._fd

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


def _number(reply: dict[str, Any], key: str) -> float:
    value = reply.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise Ended(Crashed(stage="call", log="", reason=f"the runner reported {key}={value!r}, which is no time"))
    return float(value)


def _texts(reply: dict[str, Any], key: str) -> list[str]:
    """A list of names, whatever the runner says."""
    said = reply.get(key)
    return [str(name)[:200] for name in said] if isinstance(said, list) else []


def _same_bytes(slot: torch.Tensor, value: torch.Tensor) -> bool:
    if slot.is_floating_point() or slot.is_complex():
        return bool(torch.equal(slot, value)) or bool(torch.equal(_bits(slot), _bits(value)))
    return bool(torch.equal(slot, value))


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().view(torch.uint8) if tensor.dim() else tensor.reshape(1).view(torch.uint8)


def _opening(setting: Setting, entry: str, compiled: bool) -> dict[str, Any]:
    """What a runner is told of a workload, for as long as it lives."""
    reference = setting.reference
    rules = reference.problem.rules
    return {
        "workload": setting.index,
        "sizes": setting.sizes,
        "read_only": not reference.mutates,
        "entry": entry,
        "compile": compiled,
        "seed": setting.init_seed,
        "on_host": reference.built_on_host,
        "init": encode(tuple(setting.init)),
        "cast": rules.precision if rules.precision in NARROW else None,
        "state": setting.state_specs,
        "inputs": setting.input_specs,
        "outputs": setting.output_specs,
    }


def _mismatch(described: Any, setting: Setting, device: str) -> str:
    expected = [f"{s['dtype']}{s['shape']}" for s in setting.output_specs]
    try:
        got = [f"{d[0]} {d[1]}{d[2]} on {d[4]}" if len(d) == 5 else str(d[0]) for d in described]
    except (TypeError, IndexError, KeyError):
        got = ["something else"]
    if got == [f"Tensor {s} on {device.partition(':')[0]}" for s in expected]:
        return "it returned the judge's own memory, or a tensor that only says that it is one"
    return f"it returned {', '.join(got) or 'nothing'} where {', '.join(expected)} was expected"[:600]
