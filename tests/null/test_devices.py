"""Targets, and the lease of a device that several processes share."""

import json
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from kernwright.core.errors import UserError
from kernwright.core.lease import open_lease
from kernwright.engine.targets import here, known, target_of
from kernwright.platforms.cuda import arch_of
from kernwright.platforms.cuda_lease import DeviceLease

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


def test_what_a_dead_process_reserved_is_free(lease: DeviceLease) -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    handle = open_lease("device-memory")
    os.pwrite(handle, json.dumps({f"{child.pid}-1": 90}).encode(), 0)
    os.close(handle)
    with lease.reserved(90, 100):
        pass


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
