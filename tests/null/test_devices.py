"""Targets, and the lease of a device that several processes share."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from kernwright.core.errors import UserError
from kernwright.core.lease import holders, offered, on_waiting, open_lease, taken
from kernwright.engine.targets import here, known, target_of
from kernwright.platforms.cpu import CpuSession
from kernwright.platforms.cuda import arch_of
from kernwright.platforms.cuda_lease import DeviceLease, least_used

HERE = "cpu:" + next(target for target in here() if target.startswith("cpu:")).partition(":")[2]


@pytest.fixture
def lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DeviceLease:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return DeviceLease("device")


def test_one_alone_excludes_all_others(lease: DeviceLease) -> None:
    held: list[str] = []

    def hold(name: str, alone: bool) -> None:
        with lease.held(alone=alone):
            held.append(f"+{name}")
            time.sleep(0.05)
            held.append(f"-{name}")

    threads = [threading.Thread(target=hold, args=(str(n), True)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry[0] for entry in held] == ["+", "-"] * 3


def test_sharers_hold_it_together(lease: DeviceLease) -> None:
    with lease.held(alone=False):
        entered = threading.Event()

        def share() -> None:
            with lease.held(alone=False):
                entered.set()

        thread = threading.Thread(target=share)
        thread.start()
        assert entered.wait(5)
        thread.join()


def test_a_share_is_lent_to_whoever_waits_to_be_alone(lease: DeviceLease) -> None:
    order: list[str] = []

    def alone() -> None:
        with lease.held(alone=True):
            order.append("alone")
            time.sleep(0.1)
            order.append("no more")

    with lease.held(alone=False) as share:
        assert not share.wanted()
        thread = threading.Thread(target=alone)
        thread.start()
        while not share.wanted():
            time.sleep(0.01)
        assert order == []
        assert share.lend()
        assert order == ["alone", "no more"]
        thread.join()
        assert not share.wanted()
        with lease.held(alone=False) as other:  # it is held again, as a share
            assert not other.wanted()


def test_a_stream_of_sharers_does_not_starve_who_wants_to_be_alone(lease: DeviceLease) -> None:
    stop = threading.Event()

    def share() -> None:
        while not stop.is_set():
            with lease.held(alone=False):
                time.sleep(0.02)

    threads = [threading.Thread(target=share) for _ in range(6)]
    for thread in threads:
        thread.start()
    try:
        began = time.monotonic()
        for _ in range(5):
            with lease.held(alone=True):
                pass
        assert time.monotonic() - began < 5
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_on_the_processor_too_whoever_comes_later_does_not_keep_others_from_timing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    order, session = list[str](), CpuSession()

    def use(name: str, lease: AbstractContextManager[Any]) -> None:
        with lease:
            order.append(name)

    threads = [
        threading.Thread(target=use, args=("timed", session.exclusive())),
        threading.Thread(target=use, args=("later", session.shared())),
    ]
    with session.shared():
        for thread in threads:
            thread.start()
            time.sleep(0.3)
        assert order == []
        with offered("cpu") as held:  # an operator's
            assert not held
    for thread in threads:
        thread.join()
    assert order == ["timed", "later"]
    with offered("cpu") as held:
        assert held
        with offered("cpu") as another:
            assert another


ALONE_AT_ONCE = """
from kernwright.platforms.cuda_lease import DeviceLease

with DeviceLease("device").held(alone=True):
    pass
"""


def test_who_holds_a_lease_is_known_and_who_waits_is_not(lease: DeviceLease) -> None:
    assert holders() == []
    with lease.held(alone=False), lease.reserved(1, 10):
        held = [os.getpid()]
        assert holders() == held
        waiting = subprocess.Popen(
            [sys.executable, "-c", ALONE_AT_ONCE], env=os.environ | {"TMPDIR": tempfile.gettempdir()}
        )
        while not any("-gate" in path.name and _is_locked(path) for path in Path(tempfile.gettempdir()).iterdir()):
            time.sleep(0.01)
        assert holders() == held
    assert waiting.wait(20) == 0
    assert holders() == []


def _is_locked(path: Path) -> bool:
    with path.open("rb+") as file:
        return not taken(file.fileno(), fcntl.LOCK_SH)


def test_sharers_come_in_together_after_one_alone(lease: DeviceLease) -> None:
    order: list[str] = []

    def hold(alone: bool) -> None:
        with lease.held(alone=alone):
            order.append("alone" if alone else "shared")
            time.sleep(0.05)

    sharers, loners = ([threading.Thread(target=hold, args=(alone,)) for _ in range(2)] for alone in (False, True))
    with lease.held(alone=True):
        for threads in (loners, sharers):  # the next one alone comes to the gate when this one is done
            for thread in threads:
                thread.start()
            time.sleep(0.5)
    for thread in (*sharers, *loners):
        thread.join()
    assert order == ["shared", "shared", "alone", "alone"]


def test_a_stream_of_those_who_are_alone_does_not_starve_sharers(lease: DeviceLease) -> None:
    stop, turns = threading.Event(), list[float]()

    def alone_again_and_again() -> None:
        while not stop.is_set():
            with lease.held(alone=True):
                turns.append(time.monotonic())
                time.sleep(0.05)

    threads = [threading.Thread(target=alone_again_and_again) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        waited = []
        for _ in range(11):
            began = time.monotonic()
            with lease.held(alone=False):
                waited.append(sum(began < turn for turn in turns))
            time.sleep(0.05)
        assert sorted(waited)[5] <= 2, "the one who waits, and one who came before the sharer"
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def lending(lease: DeviceLease, stop: threading.Event, lent: list[bool], least_s: float = 0.02) -> None:
    """Has a share, and lends it whenever it is wanted, once it had it for so long."""
    with lease.held(alone=False) as share:
        while not stop.is_set():
            time.sleep(least_s)
            if share.wanted():
                lent.append(share.lend())


def test_several_who_lend_their_shares_let_one_be_alone(lease: DeviceLease) -> None:
    stop, lent = threading.Event(), list[bool]()
    threads = [threading.Thread(target=lending, args=(lease, stop, lent, 0.02 * n)) for n in (1, 2, 5)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            began = time.monotonic()
            with lease.held(alone=True):
                assert time.monotonic() - began < 2
            time.sleep(0.05)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert lent.count(True) >= 5


def test_who_lends_in_vain_does_not_wait_for_those_who_keep_theirs(lease: DeviceLease) -> None:
    done = threading.Event()

    def be_alone() -> None:
        with lease.held(alone=True):
            done.set()

    thread = threading.Thread(target=be_alone)
    with lease.held(alone=False):
        with lease.held(alone=False) as share:
            thread.start()
            while not share.wanted():
                time.sleep(0.01)
            began = time.monotonic()
            assert share.lend() is False
            assert time.monotonic() - began < 2
            assert not done.is_set(), "it is shared again"
        assert not done.wait(0.2)
    thread.join(5)
    assert done.is_set()


@pytest.mark.parametrize("undisturbed", [True, False])
def test_nothing_starts_on_the_device_while_timing_is_to_be_undisturbed(lease: DeviceLease, undisturbed: bool) -> None:
    started, thread = threading.Event(), None

    def start() -> None:
        with lease.starting():
            started.set()

    with lease.alone(undisturbed=undisturbed):
        thread = threading.Thread(target=start)
        thread.start()
        assert started.wait(0.3) is not undisturbed
    thread.join(5)
    assert started.is_set()


def test_undisturbed_timing_waits_for_what_is_starting(lease: DeviceLease) -> None:
    alone = threading.Event()

    def time_it() -> None:
        with lease.alone(undisturbed=True):
            alone.set()

    with lease.starting():
        thread = threading.Thread(target=time_it)
        thread.start()
        assert not alone.wait(0.3)
    thread.join(5)
    assert alone.is_set()


def test_memory_is_reserved_one_after_the_other(lease: DeviceLease) -> None:
    order: list[str] = []

    def second() -> None:
        with lease.reserved(60, 100):
            order.append("second")

    with lease.reserved(60, 100), lease.reserved(40, 100):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.2)
        order.append("first ends")
    thread.join()
    assert order == ["first ends", "second"]


def test_what_is_taken_while_timing_is_kept_free_once(lease: DeviceLease) -> None:
    with lease.reserved(30, 100, 20), lease.reserved(30, 100, 40):
        for nbytes, timing in ((1, 0), (0, 41)):
            with pytest.raises(TimeoutError), interrupted(0.2), lease.reserved(nbytes, 100, timing):
                pytest.fail("there is no room")
        with lease.reserved(0, 100, 40):
            pass
    with lease.reserved(80, 100, 20), pytest.raises(UserError, match="make them smaller"), lease.reserved(81, 100, 20):
        pytest.fail("there never is room")


HOLDER = """
import sys, tempfile, time
from kernwright.platforms.cuda_lease import DeviceLease, least_used
tempfile.tempdir = sys.argv[1]
with DeviceLease("device").reserved(90, 100):
    print("held", flush=True)
    time.sleep(600)
"""


@contextmanager
def holder(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that has reserved 90."""
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_what_a_killed_process_reserved_is_free_at_once(lease: DeviceLease, tmp_path: Path) -> None:
    with holder(tmp_path) as other:
        freed: list[bool] = []

        def end() -> None:
            freed.append(True)
            other.kill()

        threading.Timer(0.3, end).start()
        with lease.reserved(90, 100):
            assert freed


@pytest.mark.parametrize("text", ["90", '{"1-1": 90}', "[1]", "\0\xff", ""])
def test_what_nobody_holds_reserves_nothing_whatever_its_file_says(lease: DeviceLease, text: str) -> None:
    handle = open_lease("device-memory-3")
    os.pwrite(handle, text.encode("latin-1"), 0)
    os.close(handle)
    with lease.reserved(90, 100):
        assert [n for n in range(9) if not free_now(f"device-memory-{n}")] == [3]
        with pytest.raises(TimeoutError), interrupted(0.2), lease.reserved(20, 100):
            pass


def test_a_foreign_text_under_a_held_reservation_counts_nothing(lease: DeviceLease) -> None:
    with lease.reserved(90, 100):
        handle = open_lease("device-memory-0")
        os.pwrite(handle, b"rubbish", 0)
        os.close(handle)
        with lease.reserved(90, 100):
            pass


def free_now(name: str) -> bool:
    handle = open_lease(name)
    try:
        return taken(handle)
    finally:
        os.close(handle)


@contextmanager
def interrupted(seconds: float) -> Iterator[None]:
    """Has a signal raise TimeoutError, as Ctrl-C raises KeyboardInterrupt."""

    def late(number: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_wait_can_be_interrupted_first_in_the_queue_and_behind_another(lease: DeviceLease) -> None:
    with lease.reserved(90, 100):
        with pytest.raises(TimeoutError), interrupted(0.2), lease.reserved(90, 100):
            pass
        queue = open_lease("device-queue")
        fcntl.flock(queue, fcntl.LOCK_EX)
        with pytest.raises(TimeoutError), interrupted(0.2), lease.reserved(5, 100):
            pass
        os.close(queue)
    with lease.reserved(100, 100):
        pass


def test_a_stream_of_small_reservations_does_not_starve_a_large_one(lease: DeviceLease) -> None:
    stop, under_way = threading.Event(), threading.Barrier(4)

    def small(number: int) -> None:
        with lease.reserved(20, 100):
            under_way.wait()
            time.sleep(0.02 * number)
        while not stop.is_set():
            with lease.reserved(20, 100):
                time.sleep(0.1)

    threads = [threading.Thread(target=small, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    under_way.wait()
    try:
        with interrupted(10):
            for _ in range(3):
                with lease.reserved(90, 100):
                    pass
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_who_holds_a_reservation_learns_that_another_waits(lease: DeviceLease) -> None:
    assert not lease.wanted()
    with lease.reserved(90, 100):
        assert not lease.wanted()
        other = lease.reserved(90, 100)
        thread = threading.Thread(target=other.__enter__)
        thread.start()
        deadline = time.monotonic() + 10
        while not lease.wanted():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert not lease.wanted(60.0), "it has not waited for so long"
        queue, now = open_lease("device-queue"), time.time()
        os.utime(queue, (now + 3600, now + 3600))
        assert lease.wanted(), "the clock was set back"
        os.utime(queue, (now, now))
        os.close(queue)
        while not lease.wanted(0.5):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    thread.join()
    other.__exit__(None, None, None)
    assert not lease.wanted()


def test_a_wait_is_told_to_whoever_listens(lease: DeviceLease) -> None:
    said: list[bool] = []
    on_waiting.set(said.append)
    try:
        with lease.held(alone=True), lease.reserved(90, 100):
            assert said == []
            with pytest.raises(TimeoutError), interrupted(0.2), lease.reserved(90, 100):
                pass
            assert said == [True, False]
            with pytest.raises(TimeoutError), interrupted(0.2), lease.held(alone=False):
                pass
            assert said == [True, False] * 2
    finally:
        on_waiting.set(None)


def test_processes_spread_over_devices_and_a_place_comes_free(lease: DeviceLease) -> None:
    had = [least_used(["a", "b", "c"]) for _ in range(7)]
    assert [index for index, _ in had] == [0, 1, 2, 0, 1, 2, 0]
    os.close(had[1][1])
    again = least_used(["a", "b", "c"])
    assert again[0] == 1
    for _, place in (had[0], *had[2:], again):
        os.close(place)


def test_more_than_there_is_cannot_be_reserved(lease: DeviceLease) -> None:
    with pytest.raises(UserError, match="make them smaller"), lease.reserved(101, 100):
        pass


def test_a_target_of_another_machine_has_to_be_asked_for() -> None:
    absent = next(target for target in known() if target.startswith("rocm:"))
    assert target_of(absent, absent=True) == absent
    with pytest.raises(UserError, match="is not here; this machine has"):
        target_of(absent)
    with pytest.raises(UserError, match="There is no 'rocm' device here; name the one that is meant: rocm:gfx"):
        target_of("rocm", absent=True)
    with pytest.raises(UserError, match="There is no target 'cuda:sm_12'"):
        target_of("cuda:sm_12", absent=True)


def test_the_first_target_that_suits_is_taken() -> None:
    assert target_of(None, suits=lambda target: target.startswith("cpu:")) == HERE
    first = target_of(None, absent=True, suits=lambda target: target.startswith("rocm:"))
    assert first == "rocm:gfx90a"


@pytest.mark.parametrize(
    ("capability", "name"), [((8, 0), "sm_80"), ((8, 9), "sm_89"), ((9, 0), "sm_90a"), ((10, 0), "sm_100a")]
)
def test_architectures_have_the_names_that_compilers_know(capability: tuple[int, int], name: str) -> None:
    assert arch_of(capability) == name
