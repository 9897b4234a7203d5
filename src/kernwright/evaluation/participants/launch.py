"""Runners as the judge sees them: spawned from a warm launcher, spoken to in messages, frozen, watched and killed."""

import contextlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import kernwright
from kernwright.core.errors import MachineFault, UserError, missing_extra
from kernwright.evaluation.memory import let_go
from kernwright.evaluation.runner import tree
from kernwright.evaluation.runner.confinement import LEVELS, Confinement, Level
from kernwright.evaluation.runner.isolate import LOG_BYTES
from kernwright.evaluation.runner.launcher import SPAWN
from kernwright.evaluation.runner.namespaces import libraries

from .runner_failure import RunnerBabble, RunnerDied, RunnerFailure, RunnerHog, RunnerOverdue
from .runner_process import Runner

__all__ = [
    "LEVELS", "Confinement", "Launcher", "Level", "Runner",
    "RunnerBabble", "RunnerDied", "RunnerFailure", "RunnerHog", "RunnerOverdue",
]  # fmt: skip

_START_S = 120.0
_BIRTH_S = 30.0
_STOP_S = 5.0
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "passive",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "KMP_BLOCKTIME": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    # Read when PyTorch's compiler is imported, which is before a runner has variables of its own.
    "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",
    # Whatever asks in the launcher whether there is a GPU must not open it: runners are forked from there.
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
}
_START = """\
import os, site, sys
package, *libraries = sys.argv[3:]
own = site.getsitepackages()
place = next((at for at, entry in enumerate(sys.path) if entry in own), len(sys.path))
sys.path[place:place] = libraries
sys.path.append(package)
from kernwright.evaluation.runner.launcher import main
main(int(sys.argv[1]), sys.argv[2].split())
os._exit(0)  # taking PyTorch apart would keep whoever waits for the end
"""
"""Isolated, so that nothing in the environment reaches it. Packages that the judge finds before those of the
interpreter's own folders are found so here too, or runners would have another PyTorch than the judge."""
_FIRST = ("torch", "numpy")
"""What is imported before it is known what else."""


def _handed_on() -> dict[str, str]:
    """Where the dynamic linker looks, which it reads once, when a process starts; and the compiler, which PyTorch's own
    reads when it is imported."""
    return {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "CXX") if name in os.environ}


@dataclass(slots=True)
class _Started:
    """A process that is about to be a launcher, once it has imported what comes first."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    log: int


def _start_process(first: Sequence[str], environment: Mapping[str, str]) -> _Started:
    log = os.memfd_create("launcher-log")
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    folders = [str(Path(kernwright.__file__).resolve().parents[1]), *libraries()]
    with theirs, let_go():
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", _START, str(theirs.fileno()), " ".join(first), *folders],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[theirs.fileno()],
            env={**_handed_on(), **_ENVIRONMENT, **environment}
            | {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/"},
            cwd="/",
            start_new_session=True,
        )
    return _Started(process, control, log)


def _no_torch() -> UserError:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return missing_extra("Judging", "torch")
    return UserError(
        f"PyTorch is at {Path(spec.origin).parent}, where this Python finds it and runners do not: they search folders "
        "that packages were installed into; install it with pip, by --target where it is to lie in a folder of its own."
    )


_ahead: list[_Started] = []


def begin() -> None:
    """Start the process of the next launcher, which takes seconds over PyTorch, while this one imports it too."""
    _ahead.append(_start_process(_FIRST, {}))


def _taken() -> _Started | None:
    """One that was begun and has not ended since."""
    while _ahead:
        started = _ahead.pop()
        if started.process.poll() is None:
            return started
        started.control.close()
        os.close(started.log)
    return None


class Launcher:
    """A warm process that runners are forked from, a few milliseconds each.

    Args:
        preload: modules to import once; those that are not installed are left out, `torch` must be there.
            `module:function:1:2` also calls the function, with integers.
        runner: `module:function` of what runs inside, called with its socket and its config.
        search: folders to import `runner` from beside the installed packages; runners may read them.
        strongest: go no further than this level of isolation.
        environment: set beside its own.

    Raises:
        UserError: torch is not installed, or not where runners look.
        MachineFault: the launcher did not start.
    """

    def __init__(
        self,
        preload: Sequence[str] = ("torch", "numpy"),
        runner: str = "kernwright.evaluation.runner.harness:main",
        *,
        search: Sequence[Path] = (),
        strongest: Level = "namespaces",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.strongest = strongest
        self._lock = threading.RLock()
        self._runners: set[Runner] = set()
        self._has_imported = set[str]()
        first = [name for name in _FIRST if name in preload]
        started = _taken() if len(first) == len(_FIRST) and not environment else None
        started = started or _start_process(first, environment or {})
        self._process, self._control, self._log = started.process, started.control, started.log
        rest = [name for name in preload if name not in first]
        self._tell({"preload": rest, "runner": runner, "search": [*map(str, search)]})
        self._expect_ready("torch" in preload)

    def _tell(self, message: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):  # that it is gone is found by whoever waits for it
            self._control.send(json.dumps(message).encode())

    def _expect_ready(self, needs_torch: bool) -> None:
        self._control.settimeout(_START_S)
        try:
            answer = self._control.recv(64)
        except OSError as error:
            answer = str(error).encode()
        self._control.settimeout(_BIRTH_S)
        if answer == b"ready":
            return
        log = self.log()
        self.close()
        if answer == b"no torch" and needs_torch:
            raise _no_torch()
        raise MachineFault(f"The launcher of runners did not start: {log.strip() or answer.decode()}")

    def import_too(self, modules: Sequence[str]) -> None:
        """For all runners that are made from now on. What cannot be imported is left to those that need it."""
        if self._has_imported.issuperset(modules):
            return
        self._tell({"import": [*modules]})
        self._has_imported.update(modules)
        self._control.settimeout(_START_S)
        with contextlib.suppress(OSError):  # as above
            self._control.recv(64)
        self._control.settimeout(_BIRTH_S)

    def log(self) -> str:
        """The end of what it said."""
        size = os.fstat(self._log).st_size
        return os.pread(self._log, LOG_BYTES, max(0, size - LOG_BYTES)).decode(errors="replace")

    @property
    def pid(self) -> int:
        """The launcher's process id."""
        return self._process.pid

    def spawn(self, confinement: Confinement, config: Mapping[str, Any]) -> Runner:
        """A fresh runner, confined and about to call the entry function.

        Raises:
            MachineFault: the launcher is gone, or a step that must not fail did.
        """
        description = {
            "confinement": confinement.to_json(),
            "config": dict(config),
            "strongest": self.strongest,
        }
        channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        status, their_status = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        log = os.memfd_create("runner-log")
        os.ftruncate(log, LOG_BYTES + 8)
        output_read, output_write = os.pipe()
        about = os.memfd_create("runner-description")
        with self._lock, theirs, their_status:
            runner = Runner(self, confinement, channel, status, log, output_read)
            self._runners.add(runner)
            try:
                os.write(about, json.dumps(description).encode())
                fds = [theirs.fileno(), their_status.fileno(), about, log, output_read, output_write]
                socket.send_fds(self._control, [SPAWN], fds)
                theirs.close()
                their_status.close()
                runner.await_birth(_BIRTH_S)
            except OSError as error:
                runner.close()
                raise MachineFault(f"The launcher of runners is gone: {self.log().strip() or error}") from error
            except BaseException:
                runner.close()
                raise
            finally:
                os.close(about)
                os.close(output_write)
        return runner

    def is_alive(self) -> bool:
        """Whether the launcher runs; one that is just ending counts as dead."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.05)
        return self._process.returncode is None

    def forget(self, runner: Runner) -> None:
        """Called by a runner that is closed. Kills what escaped from it where no PID namespace held it."""
        with self._lock:
            self._runners.discard(runner)
            if runner.level == "namespaces" or self._process.poll() is not None:
                return
            live = {other.init_pid for other in self._runners}
            for stray in tree.children(self._process.pid):
                if stray not in live:
                    tree.kill_below(stray)
                    tree.send(stray, signal.SIGKILL)

    def close(self) -> None:
        """Kill every runner, then the launcher. Idempotent."""
        for runner in list(self._runners):
            runner.close()
        self._control.close()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._log >= 0:
            os.close(self._log)
            self._log = -1

    def __enter__(self) -> "Launcher":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
