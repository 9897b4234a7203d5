"""Folders of jobs and results that hold something else, or cannot be written: refused before anything is done."""

import errno
import shutil
import time
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest
from cli_runs import Kernwright, process
from jobs_runs import Trip, far

from kernwright.core.errors import UserError
from kernwright.engine.jobs import folder, looping
from kernwright.engine.jobs.running import Means
from kernwright.engine.jobs.running import run as work
from kernwright.store import disk, locks
from kernwright.store.disk import full
from kernwright.testing.null import EXECUTED


@pytest.fixture
def trip(tmp_path: Path) -> Trip:
    return Trip(tmp_path)


@pytest.fixture
def kernwright(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Kernwright:
    return Kernwright(tmp_path / "home", capsys)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def exported(trip: Trip, *texts: str) -> None:
    trip.begin()
    trip.tell(*(texts or ("SPEEDUP = 1.5",)))
    trip.export("judge")


def test_results_are_not_overwritten_with_jobs(trip: Trip) -> None:
    exported(trip)
    trip.work()
    before = contents(trip.results)
    trip.jobs.rename(trip.root / "old")
    trip.results.rename(trip.jobs)
    with pytest.raises(UserError, match=r"holds judge-\w+\.json, a result\. Nothing was written.* with -o"):
        trip.export("judge")
    assert contents(trip.jobs) == before


def test_results_beside_a_manifest_are_not_overwritten_either(trip: Trip) -> None:
    exported(trip)
    trip.work()
    shutil.copytree(trip.results, trip.jobs, dirs_exist_ok=True)
    before = contents(trip.jobs)
    with pytest.raises(UserError, match="a result"):
        trip.export("judge")
    assert contents(trip.jobs) == before


@pytest.mark.parametrize("name", ["notes.txt", "notes.json", "blob/x"])
def test_a_folder_that_is_no_folder_of_jobs_is_left_alone(trip: Trip, name: str) -> None:
    (trip.jobs / name).parent.mkdir(parents=True)
    (trip.jobs / name).write_text("{}")
    with pytest.raises(UserError, match="which is no job"):
        exported(trip)
    assert contents(trip.jobs) == {name: b"{}"}


def test_jobs_are_written_anew_over_damaged_ones_and_after_an_export_that_was_cut_short(trip: Trip) -> None:
    exported(trip)
    whole = contents(trip.jobs)
    [job] = trip.jobs.glob("judge-*.json")
    job.write_text(job.read_text()[:-100])
    (trip.jobs / "README").write_text("how to submit these")
    trip.export("judge")
    (trip.jobs / "README").unlink()
    assert contents(trip.jobs) == whole
    (trip.jobs / "manifest.json").unlink()
    trip.export("judge")
    assert contents(trip.jobs) == whole


@pytest.mark.parametrize("place", ["plain", "plain/below", "/proc/x"])
def test_jobs_that_cannot_be_written_name_the_option(trip: Trip, kernwright: Kernwright, place: str) -> None:
    trip.begin()
    trip.tell("SPEEDUP = 1.5")
    (trip.root / "plain").write_text("a file")
    said = kernwright.refused("jobs", "export", trip.run, "-o", trip.root / place)
    assert str(trip.root / place) in said
    assert "with -o" in said
    assert "KERNWRIGHT_HOME" not in said


@pytest.mark.parametrize("place", ["plain", "plain/below", "/proc/x"])
def test_results_that_cannot_be_written_are_refused_before_any_work(
    trip: Trip, kernwright: Kernwright, place: str
) -> None:
    exported(trip, "SPEEDUP = 1.5", "SPEEDUP = 1.6")
    (trip.home / EXECUTED).touch()
    (trip.root / "plain").write_text("a file")
    said = kernwright.refused("jobs", "run", trip.jobs, "-o", trip.root / place)
    assert str(trip.root / place) in said
    assert "with -o" in said
    assert "KERNWRIGHT_HOME" not in said
    assert (trip.home / EXECUTED).read_text() == ""


def test_a_folder_of_jobs_takes_no_results(trip: Trip, kernwright: Kernwright) -> None:
    exported(trip)
    before = contents(trip.jobs)
    trip.tell("SPEEDUP = 1.7")
    other = trip.root / "other"
    shutil.copytree(trip.jobs, other)
    for job in other.glob("judge-*.json"):
        job.unlink()
    assert "is a folder of jobs" in kernwright.refused("jobs", "run", trip.jobs, "-o", other)
    assert contents(trip.jobs) == before


def test_a_disk_that_fills_up_costs_one_jobs_work_and_the_same_command_goes_on(
    trip: Trip, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported(trip, "SPEEDUP = 1.5", "SPEEDUP = 1.6", "SPEEDUP = 1.7")
    real, taken = disk.tempfile, []

    def no_room(*_: object, **__: object) -> NoReturn:
        taken.append("all")
        raise OSError(errno.ENOSPC, "No space left on device")

    def probe(**where: Path) -> object:
        return no_room() if taken else real.NamedTemporaryFile(**where)  # type: ignore[call-overload]

    with monkeypatch.context() as patch:
        patch.setattr(folder, "tempfile", SimpleNamespace(mkstemp=no_room))
        patch.setattr(disk, "tempfile", SimpleNamespace(NamedTemporaryFile=probe))
        summary = trip.work()
    assert len(trip.executed()) == 1
    assert [left.blame for left in summary.left] == ["machine"] * 3
    for left in summary.left:
        assert f"The disk is full: {trip.results} takes no more data" in left.reason
        assert left.reason.endswith("free space and give the same command again.")
    assert len(trip.work().done) == 3


def test_a_full_scratch_folder_is_no_run_to_resume(trip: Trip, monkeypatch: pytest.MonkeyPatch) -> None:
    trip.begin(far("SPEEDUP = 1.3"))
    trip.export("seeds")

    def store(place: Path) -> NoReturn:
        raise full(place, trip.run)

    monkeypatch.setattr(looping, "SqlStore", store)
    [left] = trip.work().left
    assert left.blame == "machine"
    assert "The disk is full" in left.reason
    assert left.reason.endswith("free space and give the same command again.")


def test_where_nothing_was_done_nothing_is_to_be_brought_home(trip: Trip, kernwright: Kernwright) -> None:
    exported(trip, "USER_ERROR = 'no inputs'")
    said = kernwright("jobs", "run", trip.jobs, "-o", trip.results)
    assert said.code == 2
    assert "jobs import" not in said.out


def test_two_do_not_do_jobs_into_one_folder(trip: Trip, kernwright: Kernwright) -> None:
    exported(trip, "SPEEDUP = 1.5", "SPEEDUP = 1.6; SLEEP_S = 60")
    first = process("jobs", "run", trip.jobs, "-o", trip.results, "--home", trip.away)
    try:
        deadline = time.monotonic() + 30
        while not list(trip.results.glob("*.json")) and time.monotonic() < deadline:
            time.sleep(0.05)
        said = kernwright.refused("jobs", "run", trip.jobs, "-o", trip.results, "--limit", "1s")
        assert f"Another `kernwright jobs run` writes to {trip.results}" in said
    finally:
        first.terminate()
        first.communicate(timeout=30)
    assert len(trip.work(limit_s=0.5).before) == 1


def test_a_result_that_came_meanwhile_is_not_done_again(trip: Trip) -> None:
    exported(trip, "SPEEDUP = 1.5", "SPEEDUP = 1.6")
    trip.work()
    elsewhere = trip.root / "elsewhere"

    def say(_: str) -> None:
        shutil.copytree(trip.results, elsewhere, dirs_exist_ok=True)

    summary = work(trip.jobs, elsewhere, Means(home=trip.away, executor="inline"), say)
    assert (len(summary.done), len(summary.before)) == (1, 1)
    assert len(trip.executed()) == 3


def test_a_file_system_without_locks_takes_results(trip: Trip, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> NoReturn:
        raise OSError(errno.ENOLCK, "No locks available")

    exported(trip)
    monkeypatch.setattr(locks, "fcntl", SimpleNamespace(flock=none, LOCK_EX=2, LOCK_NB=4, LOCK_UN=8))
    assert len(trip.work().done) == 1
