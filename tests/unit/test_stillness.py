"""What a stopped process may be counted for, and what not."""

import os
import signal
import time

import pytest

from kernwright.evaluation.participants import stillness
from kernwright.evaluation.participants.proc import used_ns
from kernwright.evaluation.participants.stillness import MUCH_NS, STILL_NS, STIRS, Stillness
from kernwright.evaluation.runner import tree


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Processor time of every process, one number."""
    now = [0]
    monkeypatch.setattr(stillness, "used_ns", lambda pid: now[0])
    return now


def test_nothing_is_said_of_what_stays_as_it_was(clock: list[int]) -> None:
    still = Stillness()
    assert still.broken_ns() == 0
    still.begin({1, 2})
    for _ in range(10):
        clock[0] += STILL_NS // 20  # two processes
        assert still.broken_ns() == 0


def test_much_is_found_at_once_and_a_little_the_fourth_time(clock: list[int]) -> None:
    still = Stillness()
    still.begin({1})
    clock[0] += MUCH_NS + 1
    assert still.broken_ns() == MUCH_NS + 1
    still = Stillness()
    for _ in range(STIRS):
        still.begin({1})
        clock[0] += STILL_NS + 1
        assert still.broken_ns() == 0
        assert still.broken_ns() == 0  # counted once
        still.end()
        clock[0] += MUCH_NS  # it may run now
        assert still.broken_ns() == 0
    still.begin({1})
    clock[0] += STILL_NS + 1
    assert still.broken_ns() == STILL_NS + 1


def test_one_that_leaves_its_core_late_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    late = iter([0, 700_000])
    monkeypatch.setattr(stillness, "used_ns", lambda pid: next(late, 900_000))
    still = Stillness()
    still.begin({os.getpid()})
    assert still.broken_ns() == 0


def test_one_that_await_left_its_core_is_counted_for_nothing_more() -> None:
    if (pid := os.fork()) == 0:
        while True:
            pass
    try:
        assert not tree.await_left(pid)
        for _ in range(50):
            os.kill(pid, signal.SIGSTOP)
            while not tree.is_stopped(pid):
                pass
            if not tree.await_left(pid):
                pytest.skip("this user may not ask in which system call a thread is")
            before = used_ns(pid)
            time.sleep(0.01)
            assert used_ns(pid) == before
            os.kill(pid, signal.SIGCONT)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
