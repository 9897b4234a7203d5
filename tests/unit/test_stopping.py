"""Who is told to stop stands still, whatever tells it to go on meanwhile."""

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from kernwright.evaluation.participants import stopping
from kernwright.evaluation.participants.runner_failure import RunnerHog
from kernwright.evaluation.participants.stillness import Stillness
from kernwright.evaluation.participants.stopping import Stopping
from kernwright.evaluation.runner import tree


@pytest.fixture
def init() -> Iterator[int]:
    """A process that waits for its child, which computes, and has a child of its own when it is sent SIGUSR1."""
    if (pid := os.fork()) == 0:
        if (inner := os.fork()) == 0:
            signal.signal(signal.SIGUSR1, lambda *_: time.sleep(60) if os.fork() == 0 else None)
            while True:
                pass
        os.waitpid(inner, 0)
        os._exit(0)
    while not tree.children(pid):
        pass
    yield pid
    for each in [*tree.descendants(pid), pid]:
        tree.send(each, signal.SIGKILL)
    os.waitpid(pid, 0)


@pytest.fixture
def busy(init: int) -> int:
    return tree.children(init)[0]


@pytest.fixture
def stopper(init: int, busy: int) -> Iterator[Stopping]:
    fd = os.pidfd_open(busy)
    yield Stopping(init, busy, fd, closely=True)
    os.close(fd)


def test_it_is_told_again_where_something_undoes_that(
    busy: int, stopper: Stopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    undone = [0]
    is_stopped: Callable[[int], bool] = tree.is_stopped

    def undoing(pid: int) -> bool:
        if undone[0] < 5:  # as a timer of its own would
            undone[0] += 1
            os.kill(busy, signal.SIGCONT)
            time.sleep(0.002)
        return is_stopped(pid)

    monkeypatch.setattr(stopping.tree, "is_stopped", undoing)
    stopper.stop()
    assert undone[0] == 5
    assert is_stopped(busy)
    assert 5e6 < stopper.went_on_ns < 1e9  # of five times two milliseconds of work
    stopper.require_still()
    stopper.go_on()
    monkeypatch.undo()
    stopper.stop()
    assert stopper.went_on_ns < 5e6


def test_what_begins_while_all_is_stopped_is_found(
    busy: int, stopper: Stopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    time.sleep(0.1)  # by then it has said what it does when it is sent a signal
    stopper.stop()
    stopper.require_still()
    os.kill(busy, signal.SIGUSR1)
    os.kill(busy, signal.SIGCONT)
    while not tree.children(busy):
        pass
    os.kill(busy, signal.SIGSTOP)
    monkeypatch.setattr(Stillness, "broken_ns", lambda _: 0)  # that it ran is told of besides
    with pytest.raises(RunnerHog, match="began or ended while it was stopped"):
        stopper.require_still()
