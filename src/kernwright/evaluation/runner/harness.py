"""What runs inside a confined child: loads one file and answers the judge's messages.

Everything here shares a process with hostile code. The judge believes nothing that it says: outputs
are compared from shared memory, times are bounded by the judge's own clock.
"""

import functools
import json
import os
import socket
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.loading import import_file
from kernwright.core.nesting import nested
from kernwright.core.resolve import resolve

from . import looking, precision, watched
from .entries import made, makes_module
from .gradients import differentiated
from .keys import arranged
from .opened import Opened
from .plain import plain_tensors
from .seeds import seed_python
from .structure import decode, decode_calls, describe, flags, flatten, put, view

MESSAGE_BYTES = 64 << 10
_DETACH = torch._C.TensorBase.detach
"""Taken before a candidate could put its own in its place."""
BEFORE = "before.py"
"""Among a build's artefacts: Python that a runner imports before the candidate, to find there what was built."""
LOG_CHARACTERS = 6000
_FULL = "NVML_SUCCESS == DriverAPI"
"""PyTorch asks NVML how full a full device is, which a runner may not ask; its assertion would hide the reason."""


def main(sock: socket.socket, config: Mapping[str, Any]) -> None:
    """Serve until the socket closes.

    `config`: `runtime` (module:Class; empty where nothing is to be called), `threads`, `precision`, `copies` (whether
    calls get inputs in memory of their own, where a tool that watches the process sees their bounds), and `around`, a
    command to be watched by, where there is one.
    """
    if config.get("around"):
        watched.serve(sock, config)
        return
    precision.pin(config["precision"])
    runtime = resolve(config["runtime"])(config["threads"]) if config["runtime"] else None
    session = _Session(runtime, config["copies"])
    while True:
        data, fds, _, _ = socket.recv_fds(sock, MESSAGE_BYTES, 4)
        if not data:
            return
        message = json.loads(data)
        if message["op"] == "finish":
            return
        try:
            reply = session.answer(message, fds)
        except SystemExit as error:
            reply = {"error": f"it called sys.exit({error.code})", "log": ""}
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            if _FULL in said:
                said = "OutOfMemoryError: the device is out of memory"
            reply = {"error": session.relative(said)[:2000], "log": session.log(error)}
        sock.send(json.dumps(reply).encode()[:MESSAGE_BYTES])


class _Session:
    def __init__(self, runtime: Any, copies: bool) -> None:
        self._runtime = runtime
        self._copies = copies
        self._module: Any = None
        self._workloads: dict[int, Opened] = {}
        self._held: list[torch.Tensor] = []
        self._given: list[Any] = []
        """Results of the latest call, in tensors that the candidate does not know: whoever looks whether its own are
        still alive learns nothing of their memory."""
        self._before: list[Any] = []
        """Those of the call before, where the judge reads results: whoever writes over them shows it."""
        self._folder = str(Path.cwd())

    def log(self, error: Exception) -> str:
        """The traceback's frames in the candidate's own files, and the message."""
        kept = traceback.TracebackException.from_exception(error)
        frames = [f for f in kept.stack if f.filename.startswith(self._folder)]
        kept.stack = traceback.StackSummary.from_list(frames)
        return self.relative("".join(kept.format(chain=False)))[-LOG_CHARACTERS:]

    def relative(self, text: str) -> str:
        """`text` with the scratch folder's own path left out."""
        return text.replace(f"{self._folder}/", "")

    def answer(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        match message["op"]:
            case "build" | "common":
                return _compiled(message, fds)
            case "ready" | "drop":
                self._before = []
                return {"ok": True}
            case "hold":
                self._held = self._given
                return {"ok": True}
            case "load":
                if fds:
                    self._runtime.listen(fds[0])
                    os.close(fds[0])
                main = Path(self._folder) / message["main"]
                if message["emulate"] is not None:
                    language, target = message["emulate"]
                    resolve(language)().emulate(target, main.read_text())
                before = Path(os.environ.get("KERNWRIGHT_ARTIFACTS", "")) / BEFORE
                if before.is_file():
                    import_file(before, "before")
                self._module = import_file(main, "candidate")
                return {"ok": True}
            case "open":
                return self._open(fds[:3], json.loads(_read(fds[3])))
            case "call":
                return self._call(message)
            case "held":
                return self._deliver_held(self._workloads[message["workload"]])
            case "begin_messages":
                self._begin_messages(self._workloads[message["workload"]], message, fds)
                return {"ok": True}
            case "end_messages":
                for memory in self._workloads[message["workload"]].end_messages():
                    self._runtime.close(memory)
                return {"ok": True}
            case "burst":
                return self._burst(message, fds)
            case "share":
                opened = self._workloads[message["workload"]]
                with torch.no_grad():
                    share, names = self._runtime.vendor_share(opened.function, opened.arguments(message))
                return {"ok": True, "share": share, "names": names}
            case "weights":
                self._workloads[message["workload"]].reweigh(self._runtime, fds[0])
                return {"ok": True}
            case "where":
                first, end = message["first"], message["first"] + message["count"]
                return {"ok": True, "at": self._workloads[message["workload"]].places()[first:end]}
            case "look":
                calls = json.loads(_read(fds[0]))
                return looking.look(message, lambda: _build(message, calls))
            case "trace" | "mark":
                opened = self._workloads[message["workload"]]
                return looking.call(message, opened.function, opened.arguments(message))
            case "copy":
                return {"ok": True, "ns": self._copied_again(message["bytes"])}
            case "copy_inputs":
                return {"ok": True, "ns": self._copied(self._workloads[message["workload"]], message)}
        raise ValueError(f"unknown message {message['op']!r}")

    def _open(self, fds: Sequence[int], message: dict[str, Any]) -> dict[str, Any]:
        sizes, read_only = message["sizes"], (False, message["read_only"], False)
        state, inputs, outputs = (
            self._runtime.open(fd, size, read_only=fixed) for fd, size, fixed in zip(fds, sizes, read_only, strict=True)
        )
        for fd in fds:
            os.close(fd)
        with self._runtime.building(message["on_host"]):
            function, weights, unmatched = _function(self._module, message, state)
        self._runtime.settle()
        self._runtime.close(state)
        opened = self._workloads[message["workload"]] = Opened(inputs, outputs, message, function, weights)
        self._runtime.reserve(opened.output_sizes)
        return {"ok": True, "unmatched": flags(name in unmatched for name in message["state"])}

    def _begin_messages(self, opened: Opened, message: dict[str, Any], fds: list[int]) -> None:
        left = iter(fds)
        if message["record"]:
            memory = self._runtime.open(next(left), message["record"], read_only=False)
            opened.keep_record(memory, message["stride"], message["calls"])
        if message["inputs"]:
            memory = self._runtime.open(next(left), message["inputs"], read_only=opened.read_only)
            opened.take_inputs(memory, message["set_bytes"], message["calls"])
        for fd in fds:
            os.close(fd)

    def _call(self, message: dict[str, Any]) -> dict[str, Any]:
        self._before, self._given = self._given if message["read"] else [], []
        opened = self._workloads[message["workload"]]
        arguments = opened.arguments(message)
        if self._copies:
            arguments = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
        self._runtime.poison(message["poison"], opened.output_sizes)
        leaves: list[Any] = []
        read: list[torch.Tensor] = []

        def deliver(result: Any) -> bool:
            leaves.extend(flatten(result))
            if message["read"]:
                read.extend(opened.tensors(leaves) or [])
                return len(read) == len(leaves)
            return opened.deliver(leaves)

        with torch.no_grad():
            delivered, times = self._runtime.timed(
                functools.partial(opened.function, twice=True) if message["twice"] else opened.function,
                arguments,
                deliver,
                nbytes=sum(opened.output_sizes),
                turn=message["turn"],
                limit_ns=message["limit_ns"],
                in_order=message["in_order"],
            )
        self._runtime.settle()
        self._runtime.poison(None, ())
        self._given = [_DETACH(leaf) if isinstance(leaf, torch.Tensor) else leaf for leaf in read or leaves]
        return {
            "ok": True,
            "delivered": delivered,
            "outputs": describe(read or leaves),
            "at": [tensor.data_ptr() for tensor in read],
            **times,
        }

    def _burst(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        self._given, opened = [], self._workloads[message["workload"]]
        deliver = opened.delivery(message["count"])
        calls = opened.calls(message, *(json.loads(_read(fds[0])) if fds else ([], [])))
        with torch.no_grad():
            self._runtime.burst(calls, message["turn"], message["limit_ns"], deliver)
        self._runtime.settle()
        return {"ok": True, "layouts": opened.layouts}

    def _deliver_held(self, opened: Opened) -> dict[str, Any]:
        opened.deliver(self._held)
        self._held = []
        self._runtime.settle()
        return {"ok": True}

    def _copied_again(self, count: int) -> float:
        """To copy so many bytes where that was just done."""
        source, sink = (torch.ones(count, dtype=torch.uint8, device=self._runtime.device) for _ in range(2))
        times = [
            self._runtime.timed(sink.copy_, (source,), lambda result: None, limit_ns=30_000)[1]["device_ns"]
            for _ in range(5)
        ]
        return float(sorted(times)[2])

    def _copied(self, opened: Opened, message: dict[str, Any]) -> float:
        """To copy so many bytes once, from where a call's inputs lie to memory that the last results do not hold."""
        source, count = opened.input_bytes(message["set"]), message["bytes"]
        step = len(source) or count
        pieces = [source[: count - start] for start in range(0, count, step)]
        copies, times = self._runtime.timed(lambda: [piece.clone() for piece in pieces], (), lambda copies: copies)
        self._before, self._given = self._given, copies
        return float(times["device_ns"])


def _function(
    module: Any, message: dict[str, Any], memory: torch.Tensor
) -> tuple[Callable[..., Any], dict[str, torch.Tensor], list[str]]:
    """The callable, its weights by the reference's names, and those names that it has no weight for."""
    entry, gradients = getattr(module, message["entry"]), message["gradients"]
    if not makes_module(message["entry"], entry):
        function = arranged(nested(entry, message["nesting"]), message["keys"])
        return differentiated(function, [], gradients["outputs"]) if gradients else function, {}, []
    torch.manual_seed(message["seed"])
    seed_python(message["seed"])
    model = made(entry, decode(message["init"])).to(device=memory.device).eval()
    if message["cast"]:
        model = model.to(getattr(torch, message["cast"]))
    own = {**plain_tensors(model), **dict(model.named_parameters()), **dict(model.named_buffers())}
    matched = {n: own[n] for n, spec in message["state"].items() if n in own and list(own[n].shape) == spec["shape"]}
    if message["by_value"]:
        matched |= _alike(model, {n: view(memory, s) for n, s in message["state"].items() if n not in matched}, matched)
    with torch.no_grad():
        for name, tensor in matched.items():
            put(tensor, view(memory, message["state"][name]))
    unmatched = [name for name in message["state"] if name not in matched]
    called = nested(torch.compile(model, dynamic=False) if message["compile"] else model, message["nesting"])
    function = arranged(called, message["keys"])
    if gradients:
        weights = [matched[name].requires_grad_() for name in gradients["weights"] if name in matched]
        function = differentiated(function, weights, gradients["outputs"])
    return function, matched, unmatched


def _alike(
    model: torch.nn.Module, wanted: Mapping[str, torch.Tensor], matched: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """Tensors of a module, its plain attributes too, that are what is wanted under other names."""
    taken = {id(tensor) for tensor in matched.values()}
    plain = plain_tensors(model).values()
    free = [t for t in (*model.parameters(), *model.buffers(), *plain) if id(t) not in taken]
    found: dict[str, torch.Tensor] = {}
    for name, value in wanted.items():
        for tensor in free:
            same = tensor.shape == value.shape and tensor.dtype == value.dtype and tensor.device == value.device
            if same and id(tensor) not in taken and torch.equal(tensor, value):
                found[name] = tensor
                taken.add(id(tensor))
                break
    return found


def _read(fd: int) -> bytes:
    with os.fdopen(fd, "rb") as file:
        file.seek(0)
        return file.read()


def _compiled(message: dict[str, Any], fds: Sequence[int]) -> dict[str, Any]:
    """A candidate, or what builds of a language have in common."""
    if message["op"] == "build":
        return _build(message, json.loads(_read(fds[0])))
    resolve(message["language"])().compile_common((Path.cwd() / message["file"]).read_text())
    return {"ok": True}


def _build(message: dict[str, Any], calls: list[Any]) -> dict[str, Any]:
    workdir = Path.cwd()
    files = tuple(SourceFile(name=name, text=(workdir / name).read_text()) for name in message["files"])
    candidate = Candidate(language=message["name"], files=files)
    built = resolve(message["language"])().build(candidate, message["target"], workdir, decode_calls(calls))
    found = {"artifacts": built.artifacts[:64], "resources": dict(built.resources), "notes": built.notes[:64]}
    return {"ok": True, **found}
