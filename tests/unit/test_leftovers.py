"""What a killed judge leaves is cleared, and a floor measured in a bad hour does not last."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")

from kernwright.evaluation.participants import scratch
from kernwright.evaluation.timing import noise
from kernwright.evaluation.timing.statistics import LEAST_FLOOR, aa_floor


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def _left_by(pid: int, folder: Path, age_s: float) -> Path:
    left = folder / f"kernwright-{pid}-abc"
    (left / "1").mkdir(parents=True)
    os.utime(left, (time.time() - age_s,) * 2)
    return left


def _dead_pid() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_old_folders_of_dead_processes_go_and_no_others(temporary: Path) -> None:
    dead = _dead_pid()
    gone = _left_by(dead, temporary, scratch.OLD_S + 60)
    fresh = _left_by(dead + 10**6, temporary, 1)
    alive = _left_by(os.getppid(), temporary, scratch.OLD_S + 60)
    made = scratch.make_folder()
    assert not gone.exists()
    assert fresh.exists()
    assert alive.exists()
    assert made.name.startswith(f"kernwright-{os.getpid()}-")


@pytest.mark.parametrize(("spread", "age_s", "expired"), [(0.001, 86400, False), (0.2, 60, False), (0.2, 3600, True)])
def test_a_loud_floor_is_measured_again_soon(spread: float, age_s: float, expired: bool) -> None:
    known = {"at": time.time() - age_s, "log_ratios": [spread * sign for sign in (1, -1, 1, -1, 1, -1)]}
    assert noise._expired(known) is expired


def test_the_mean_of_several_sets_has_a_lower_floor() -> None:
    ratios = [0.03, -0.02, 0.01, -0.03, 0.02, 0.0]
    assert aa_floor(ratios, 5) < aa_floor(ratios, 1)
    assert aa_floor([0.0] * 6, 1) == LEAST_FLOOR
