"""What the judge's own process interrupts, and what it does not."""

import importlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernwright.evaluation.problem import deadline as deadlines
from kernwright.evaluation.problem.deadline import Overdue, deadline


def _never_ends(_: object = None) -> None:
    while True:
        time.sleep(0.01)


def test_what_takes_too_long_is_interrupted() -> None:
    began = time.monotonic()
    with pytest.raises(Overdue, match=r"longer than 0\.2 s"), deadline(0.2):
        _never_ends()
    assert time.monotonic() - began < 5
    with deadline(0.2):
        pass
    time.sleep(0.3)  # nothing rings any more


@pytest.fixture
def slow_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """With a part that is there before the package as a whole is."""
    name = "kernwright_slow_package"
    (tmp_path / name).mkdir()
    (tmp_path / name / "part.py").write_text("")
    (tmp_path / name / "__init__.py").write_text("from .part import *\nimport time\ntime.sleep(0.5)\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    for each in [each for each in sys.modules if each.partition(".")[0] == name]:
        del sys.modules[each]


def test_an_import_is_not_left_half_done(slow_package: str) -> None:
    with pytest.raises(Overdue), deadline(0.1):
        _never_ends(importlib.import_module(slow_package))
    assert importlib.import_module(slow_package).part


def test_an_import_that_does_not_end_is_interrupted_at_last(slow_package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "IMPORTS_S", 0.1)
    with pytest.raises(Overdue), deadline(0.1):
        importlib.import_module(slow_package)
