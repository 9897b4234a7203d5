"""Folders of jobs and results that hold something else, or cannot be written: refused before anything is done."""

import shutil
from pathlib import Path

import pytest
from cli_runs import Kernwright
from jobs_runs import Trip

from kernwright.core.errors import UserError


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
