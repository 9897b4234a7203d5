"""Runners as the judge sees them: spawned from a warm launcher, spoken to in messages, frozen, watched and killed."""

import contextlib
import json
import os
import signal
import site
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from kernwright.core.errors import MachineFault, missing_extra

from .memory import let_go
from .runner import tree
from .runner.confinement import LEVELS, Confinement, Level
from .runner.isolate import LOG_BYTES
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
    # Whatever asks in the launcher whether there is a GPU must not open it: runners are forked from there.
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
}
_START = """\
import sys
sys.path.extend(sys.argv[5:])
from kernwright.evaluation.runner.launcher import main
main(int(sys.argv[1]), sys.argv[2].split(), sys.argv[3], [p for p in sys.argv[4].split(':') if p])
"""


def _libraries() -> dict[str, str]:
    """Where the dynamic linker looks: it reads this once, when a process starts."""
    return {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}


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
        UserError: torch is not installed.
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
        self._log = os.memfd_create("launcher-log")
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        package = Path(__file__).resolve().parents[2]
        folders = [str(package), *map(str, search)]
        if site.getusersitepackages() in sys.path:
            folders.append(site.getusersitepackages())
        with theirs, let_go():
            arguments = [str(theirs.fileno()), " ".join(preload), runner, ":".join(map(str, search)), *folders]
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _START, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                pass_fds=[theirs.fileno()],
                env={**_libraries(), **_ENVIRONMENT, **(environment or {})}
                | {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/"},
                cwd="/",
                start_new_session=True,
            )
        self._expect_ready("torch" in preload)

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
            raise missing_extra("Judging", "torch")
        raise MachineFault(f"The launcher of runners did not start: {log.strip() or answer.decode()}")

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
                socket.send_fds(self._control, [b"spawn"], fds)
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
