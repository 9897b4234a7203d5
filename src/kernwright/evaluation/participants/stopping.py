"""Stopping a runner's processes: all of them, at once, and until they are told to go on."""

import contextlib
import signal
import time

from kernwright.evaluation.runner import tree

from .proc import cpu_ns, used_ns
from .runner_failure import RunnerHog
from .stillness import Stillness
from .waiting import Waiting

STOP_S, STOP_SHARE, PROMPT_NS = 3.0, 0.05, 500_000
"""Threads may take so long to stop, all times together, and such a share of their life beside that; they are looked at
without a pause for so long each time."""


class Stopping:
    """Of one runner: process 1 of its namespace is ours and goes on; its own first process, and what is below, stop."""

    def __init__(self, init: int, pid: int, fd: int, *, closely: bool) -> None:
        """`fd`: of the first process. `closely`: look twice, and for processes that come while all are stopped: where
        calls are timed by when a runner replies. A device is timed by its own work."""
        self._init, self._pid, self._fd, self._closely = init, pid, fd, closely
        self._stopped: set[int] = set()
        self._dead: set[int] = set()
        """Of these, those that had ended before, and that nobody had waited for."""
        self._fleeting = False
        """Whether one of them ended while it was to be stopped: its time nobody knows."""
        self._stillness = Stillness()
        self._spent_ns, self._born_ns = 0, time.monotonic_ns()
        self.went_on_ns = 0.0
        """Processor time that it had after it was told to stop, the latest time, as far as that took so long."""

    def stop(self) -> None:
        """Have all of it stand still. Whoever does already stays so.

        A process that a stopped one could still have been forking is found and stopped, and whoever goes on meanwhile,
        as by a timer that sends it the signal to, is told again.

        Raises:
            RunnerHog: it does not, or ran since it was stopped.
        """
        if self._stopped:
            self.require_still()
            return
        began = time.monotonic_ns()
        self._stopped, self._dead, self._fleeting = {self._pid}, set(), False
        self._tell(self._pid)  # first of all: what it does after its answer nobody times
        used = used_ns(self._pid)
        for _ in range(1 + self._closely):
            self._await_still()
        taken = time.monotonic_ns() - began
        others = self._stillness.begin(self._stopped, but=self._pid)
        # Threads on several cores wait for the signal at the same time.
        self.went_on_ns = float(taken if self._fleeting else min(used_ns(self._pid) - used + others, taken))

    def require_still(self) -> None:
        """Raises RunnerHog where anything of it ran, began or ended since it was stopped."""
        if ran_ns := self._stillness.broken_ns():
            raise RunnerHog(f"it ran for {ran_ns / 1e6:.1f} ms while it was stopped")
        if self._stopped and self._closely:
            there = set(tree.descendants(self._init))
            if there - self._stopped or self._stopped - there - self._dead - {self._pid}:
                raise RunnerHog("a process of it began or ended while it was stopped")

    def go_on(self) -> None:
        """Let all of it."""
        for pid in self._stopped - {self._pid}:
            tree.send(pid, signal.SIGCONT)
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._fd, signal.SIGCONT)
        self._stopped = set()
        self._stillness.end()

    def _await_still(self) -> None:
        began, prompt = time.monotonic_ns(), None
        while not self._seen_still():
            passed = time.monotonic_ns() - began
            if passed < PROMPT_NS:
                continue
            prompt = prompt or Waiting(self._stopped, cpu_ns(self._init))
            allowed_ns = STOP_S * 1e9 + STOP_SHARE * (time.monotonic_ns() - self._born_ns)
            if self._spent_ns + prompt.charged_ns(cpu_ns(self._init)) > allowed_ns:
                raise RunnerHog(f"its threads took more than {STOP_S:g} s to stop")
            time.sleep(PROMPT_NS / 1e9)
        self._spent_ns += prompt.charged_ns(cpu_ns(self._init)) if prompt else time.monotonic_ns() - began

    def _seen_still(self) -> bool:
        known = set(self._stopped)
        fresh = tree.stop_fresh(self._init, self._stopped)
        for pid in self._stopped - self._dead - {self._pid}:
            if not tree.is_alive(pid):
                self._dead.add(pid)
                self._fleeting |= pid in known or not tree.threads(pid)
        running = [pid for pid in self._stopped - self._dead if not tree.is_stopped(pid)]
        for pid in running:
            self._tell(pid)
        return not fresh and not running

    def _tell(self, pid: int) -> None:
        if pid != self._pid:
            tree.send(pid, signal.SIGSTOP)
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._fd, signal.SIGSTOP)
