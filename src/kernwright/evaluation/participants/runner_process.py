"""One runner, from the judge's side."""

import contextlib
import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from kernwright.core.errors import MachineFault
from kernwright.evaluation.runner import tree
from kernwright.evaluation.runner.confinement import LEVELS, Confinement, Level
from kernwright.evaluation.runner.isolate import LOG_BYTES

from .disk_use import held_bytes
from .proc import available_memory, cpu_ns, free_disk, pid_of, status_number
from .runner_failure import RunnerBabble, RunnerDied, RunnerHog, RunnerOverdue
from .runner_message import MESSAGE_BYTES, message_of
from .stopping import Stopping

if TYPE_CHECKING:
    from .launch import Launcher

_WATCH_S = 0.02
_KILL_S = 30.0
_LEAVE_S = 1.0  # how long process 1 has to end by itself
_LAST_WORD_S = 0.5


class Runner:
    """An untrusted process and everything it starts. Made by `Launcher.spawn`; used from one thread at a time."""

    def __init__(
        self,
        launcher: "Launcher",
        confinement: Confinement,
        channel: socket.socket,
        status: socket.socket,
        log: int,
        output: int,
    ) -> None:
        self._launcher = launcher
        self._confinement = confinement
        self._channel = channel
        self._status = status
        self._log = log
        self._output = output
        self._init_fd = self._fd = -1
        self.closed = False
        self._given: set[tuple[int, int]] = set()
        self._given_bytes = 0
        self._baseline = 0
        self._watched = 0.0
        self._disk = free_disk(confinement.scratch)
        self._machine_memory = available_memory()
        self._last_log = ""
        self.init_pid = self.pid = 0
        self.level: Level = "rlimits"
        self.missing: tuple[str, ...] = ()
        self._poller = select.poll()
        self._poller.register(channel, select.POLLIN)
        self._poller.register(status, select.POLLIN)

    # Birth

    def await_birth(self, limit_s: float) -> None:
        """Until the runner is confined and about to run. Raises MachineFault where that does not happen."""
        deadline = time.monotonic() + limit_s
        while self.init_pid == 0 or self.pid == 0:
            self._status.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                data, fds, _, _ = socket.recv_fds(self._status, LOG_BYTES * 2, 1)
            except OSError as error:
                raise MachineFault(f"A runner was not born: {error}.") from error
            message = json.loads(data) if data else {"fault": "the launcher ended"}
            match message:
                case {"init": int()}:
                    self._init_fd = fds[0]
                    self.init_pid = pid_of(self._init_fd)
                case {"level": level, "missing": missing}:
                    self._fd = fds[0]
                    self.pid = pid_of(self._fd)
                    self.level = level if level in LEVELS else "rlimits"
                    self.missing = tuple(missing)
                case _:
                    raise MachineFault(f"A runner could not be confined: {message}")
        self._baseline = self._memory(self.pid)
        self._stopping = Stopping(self.init_pid, self.pid, self._fd, closely=not self._confinement.devices)

    # Messages

    def send(self, message: Mapping[str, Any], fds: Sequence[int] = ()) -> None:
        """One message, with file descriptors. What the runner said unasked before is `RunnerBabble`."""
        if self.closed:
            raise RunnerDied("it is closed", self._last_log)
        for _, events in self._channel_events():
            if events & select.POLLIN:
                self._fail(RunnerBabble("it spoke out of turn"))
        for fd in fds:
            self._note_given(fd)
        data = json.dumps(message, separators=(",", ":")).encode()
        if len(data) > MESSAGE_BYTES:
            raise ValueError(f"a message of {len(data)} bytes; the limit is {MESSAGE_BYTES}")
        try:
            self._channel.settimeout(_KILL_S)
            if fds:
                socket.send_fds(self._channel, [data], list(fds))
            else:
                self._channel.send(data)
        except TimeoutError:
            self._fail(RunnerBabble("it does not read its messages"))
        except OSError:
            self._fail(self._ending())

    def _channel_events(self) -> list[tuple[int, int]]:
        channel = self._channel.fileno()
        return [(fd, events) for fd, events in self._poller.poll(0) if fd == channel]

    def _note_given(self, fd: int) -> None:
        about = os.fstat(fd)
        if (about.st_dev, about.st_ino) not in self._given:
            self._given.add((about.st_dev, about.st_ino))
            self._given_bytes += about.st_size

    def replied(self) -> bool:
        """Whether a message is there to be received, or its end."""
        return bool(self._channel_events())

    def receive(
        self, limit_s: float, *, attentive_s: float = 0.0, meanwhile: Callable[[], float] | None = None
    ) -> dict[str, Any]:
        """The next message. Numbers in it are finite; nothing else about it is to be trusted.

        For the first `attentive_s` the caller's core does not sleep. `meanwhile` is called now and then until it comes;
        so many seconds as it gives do not count.

        Raises:
            RunnerDied, RunnerOverdue, RunnerBabble, RunnerHog: the runner is dead by then.
        """
        if self.closed:
            raise RunnerDied("it is closed", self._last_log)
        began = time.monotonic()
        deadline = began + limit_s
        channel = self._channel.fileno()
        while attentive_s and not self._poller.poll(0) and time.monotonic() - began < attentive_s:
            pass
        while True:
            wait = max(0.0, min(deadline - time.monotonic(), _WATCH_S))
            ready = dict(self._poller.poll(wait * 1000))
            if ready.get(channel, 0) & (select.POLLIN | select.POLLHUP):
                return self._read()
            if ready:
                self._fail(self._ending())
            self._watch()
            self._watched = time.monotonic()
            deadline += meanwhile() if meanwhile is not None else 0.0
            if time.monotonic() >= deadline:
                self._fail(RunnerOverdue(limit_s))

    def _read(self) -> dict[str, Any]:
        # No room for control data: descriptors that a runner sends are dropped by the kernel.
        try:
            data, _, flags, _ = self._channel.recvmsg(MESSAGE_BYTES)
        except OSError:
            self._fail(self._ending())
        if flags & socket.MSG_TRUNC:
            self._fail(RunnerBabble(f"a message longer than {MESSAGE_BYTES} bytes"))
        if flags & socket.MSG_CTRUNC:
            self._fail(RunnerBabble("a message with file descriptors"))
        if not data:
            self._fail(self._ending())
        try:
            return message_of(data)
        except RunnerBabble as babble:
            self._fail(babble)

    def _ending(self) -> RunnerDied | RunnerBabble:
        """How it ended, as process 1 of its namespace saw it."""
        try:
            self._status.settimeout(_LAST_WORD_S)
            data = self._status.recv(LOG_BYTES * 2)
        except TimeoutError:
            return RunnerBabble("it closed its socket, or sent an empty message")
        except OSError:
            data = b""
        message = json.loads(data) if data else {}
        if "ended" not in message:
            fault = message.get("fault") or ("" if self._launcher.is_alive() else "the launcher of runners died")
            if fault:
                self.close()
                raise MachineFault(f"A runner cannot go on: {fault}.")
            return RunnerDied("killed from outside")
        status = int(message["ended"])
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            name = signal.Signals(number).name if number in signal.valid_signals() else f"signal {number}"
            return RunnerDied(f"killed by {name} ({signal.strsignal(number)})")
        return RunnerDied(f"exited with code {os.waitstatus_to_exitcode(status)}")

    def _fail(self, failure: RunnerDied | RunnerOverdue | RunnerBabble | RunnerHog) -> NoReturn:
        self.close()
        failure.log = self._last_log
        raise failure

    # Watching

    def _memory(self, pid: int) -> int:
        """Private and shared memory in use; file pages, which the kernel can drop, aside."""
        return sum(status_number(tree.read(f"/proc/{pid}/status"), name) << 10 for name in (b"RssAnon", b"RssShmem"))

    def rss_bytes(self) -> int:
        """Memory of all its processes beyond what a fresh runner holds and what was handed to it.

        Pages that a fork shares with its parent count once, as far as the kernel tells.
        """
        total = 0
        for pid in tree.descendants(self.init_pid):
            used = self._memory(pid)
            total += used - self._baseline if used >= self._baseline else used
        return max(0, total - self._given_bytes)

    def tasks(self) -> int:
        """Processes and threads; process 1 of the namespace, which is ours, not counted."""
        return sum(len(tree.threads(pid)) for pid in tree.descendants(self.init_pid))

    def affinity(self) -> set[int]:
        """Cores that any of its threads may use."""
        cores: set[int] = set()
        for pid in tree.descendants(self.init_pid):
            for thread in tree.threads(pid):
                with contextlib.suppress(OSError):
                    cores |= os.sched_getaffinity(thread)
        return cores

    def cpu_ns(self) -> int:
        """Processor time of all its processes, those that ended included (these to a clock tick)."""
        return cpu_ns(self.init_pid)

    def _watch(self) -> None:
        limits = self._confinement
        tasks = self.tasks()
        if tasks > limits.processes:
            self._fail(RunnerHog(f"{tasks} processes and threads; the limit is {limits.processes}"))
        used = self.rss_bytes()
        if used > limits.memory_bytes:
            reason = f"{used / 2**20:.0f} MiB of memory; the limit is {limits.memory_bytes / 2**20:.0f} MiB"
            self._fail(RunnerHog(reason))
        self._watch_machine()

    def _watch_machine(self) -> None:
        """What shows in no process: deleted files, and shared memory that is mapped but in no page table."""
        limits = self._confinement
        disk = free_disk(limits.scratch)
        if disk < self._disk - limits.disk_bytes:
            held = held_bytes(limits.scratch, tree.descendants(self.init_pid))
            if held > limits.disk_bytes // 2:
                self._fail(RunnerHog(f"it took {held / 2**20:.0f} MiB of disk"))
            self._disk = disk  # others took it
        memory = available_memory()
        lost = self._machine_memory - memory
        if lost > 2 * limits.memory_bytes and memory < self._machine_memory // 8:
            self._fail(RunnerHog(f"the machine lost {lost / 2**20:.0f} MiB of free memory while it ran"))

    # Freezing and killing

    def freeze(self) -> None:
        """Stop all its processes, and wait until no thread of them runs. Whoever is stopped already stays so.

        Short calls are watched here, when their time was taken.
        """
        with self._hogs():
            self._stopping.stop()
        if time.monotonic() - self._watched >= _WATCH_S:
            self._watch()
            self._watched = time.monotonic()

    def thaw(self) -> None:
        """Let them go on. Raises RunnerHog where one of them has run since."""
        with self._hogs():
            self._stopping.require_still()
        self._stopping.go_on()

    @property
    def went_on_ns(self) -> float:
        """Processor time that it had after it was told to stop, the latest time."""
        return self._stopping.went_on_ns

    @contextlib.contextmanager
    def _hogs(self) -> Iterator[None]:
        try:
            yield
        except RunnerHog as hog:
            self._fail(hog)

    def finish(self, limit_s: float) -> None:
        """Let it come to its own end, so that whatever watches it says all that it has to say; then as `close`."""
        if not self.closed:
            self._stopping.go_on()
            with contextlib.suppress(OSError):
                self._channel.shutdown(socket.SHUT_WR)
            ended = select.poll()
            ended.register(self._init_fd, select.POLLIN)
            ended.poll(limit_s * 1000)
            self.close()

    @property
    def watched(self) -> bool:
        """Whether it runs under a program."""
        return self._confinement.loopback

    def log(self) -> str:
        """The tail of what it printed."""
        if self.closed:
            return self._last_log
        size = int.from_bytes(os.pread(self._log, 8, 0), "little")
        return os.pread(self._log, min(size, LOG_BYTES), 8).decode(errors="replace")

    def close(self) -> None:
        """Kill every process of it, and wait for their end. Idempotent.

        Raises:
            MachineFault: something would not die, for instance in an uninterruptible system call.
        """
        if self.closed:
            return
        try:
            self._kill()
        finally:
            self._last_log = (self.log() + self._rest())[-LOG_BYTES:]
            self.closed = True
            self._channel.close()
            self._status.close()
            for fd in (self._log, self._output, self._init_fd, self._fd):
                if fd >= 0:
                    os.close(fd)
            self._launcher.forget(self)

    def _kill(self) -> None:
        if self._init_fd < 0:
            return
        killed = True
        if self.level != "namespaces" and self.init_pid:
            killed = tree.kill_below(self.init_pid)
        (ended := select.poll()).register(self._init_fd, select.POLLIN)
        with contextlib.suppress(OSError):  # its sign to end: killed at once, it may lose output that it has just read
            self._status.shutdown(socket.SHUT_RDWR)
        if not ended.poll(_LEAVE_S * 1000):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init_fd, signal.SIGKILL)
        if not ended.poll(_KILL_S * 1000) or not killed:
            raise MachineFault(f"Process {self.init_pid} of a runner could not be killed.")

    def _rest(self) -> str:
        """Output that process 1 had not read yet."""
        os.set_blocking(self._output, False)
        try:
            return os.read(self._output, 1 << 16).decode(errors="replace")
        except OSError:
            return ""
