"""A baseline that dies while it is timed is no matter of the candidate's: it drops out."""

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from test_room import RIGHT, job

from kernwright.core.errors import MachineFault
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Measured, Verified
from kernwright.core.plan import FULL, QUICK
from kernwright.evaluation import measurement
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.participants.participant import Participant
from kernwright.platforms.cpu import Cpu

pytestmark = [pytest.mark.judged, pytest.mark.usefixtures("quiet")]


@pytest.fixture
def judge(home: Path) -> Iterator[Judge]:
    judge = Judge(home=str(home))
    yield judge
    judge.close()


def asked(home: Path, **plan: Any) -> EvalJob:
    known = job(RIGHT, platform="kernwright.platforms.cpu:Cpu")
    return replace(known, home=str(home), target=Cpu().targets()[0], plan=replace(QUICK, **plan))


def killed(monkeypatch: pytest.MonkeyPatch, name: str, after: int, by: signal.Signals = signal.SIGSEGV) -> None:
    """The process of this baseline is gone at a timed call, once."""
    calls, real = [0], Participant.call

    def call(self: Participant, *given: Any, **named: Any) -> Any:
        if self.name == name and named.get("clock") is not None:
            calls[0] += 1
            if calls[0] == after:
                os.kill(self.runner.pid, by)
        return real(self, *given, **named)

    monkeypatch.setattr(Participant, "call", call)


def test_the_candidate_is_measured_beside_eager(judge: Judge, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(monkeypatch, "compile", after=5)
    found = judge.evaluate(asked(home, baselines=("eager", "compile")), lambda text: None)
    assert isinstance(found.outcome, Measured), found.outcome
    assert "torch.compile died while it was timed, so the baseline is eager" in " ".join(found.notes)
    assert set(found.failed_baselines) == {"compile"}
    assert {sample.participant for sample in found.outcome.timings.samples} == {"candidate", "eager"}


def test_the_same_while_fresh_processes_confirm_it(judge: Judge, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "needed", lambda first, baselines: baselines)  # however slow it is
    killed(monkeypatch, "compile", after=2 * FULL.blocks + 5)
    plan = replace(FULL, baselines=("eager", "compile"), process_sets=2, short_sets=2, sanitize=False)
    found = judge.evaluate(replace(asked(home), plan=plan), lambda text: None)
    assert isinstance(found.outcome, Verified), found.outcome
    assert "died while it was timed" in " ".join(found.notes)


def test_the_problems_own_code_is_the_machines_matter(
    judge: Judge, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(monkeypatch, "eager", after=5)
    with pytest.raises(MachineFault, match="the reference does not run in a runner"):
        judge.evaluate(asked(home, baselines=("eager",)), lambda text: None)


def test_a_candidate_that_dies_is_still_the_one_that_died(
    judge: Judge, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(monkeypatch, "candidate", after=5)
    found = judge.evaluate(asked(home, baselines=("eager", "compile")), lambda text: None)
    assert found.outcome.kind == "crashed"
    assert not found.failed_baselines


def test_a_candidate_is_not_rid_of_a_baseline_that_memory_was_too_little_for(
    judge: Judge, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(monkeypatch, "compile", after=5, by=signal.SIGKILL)
    found = judge.evaluate(asked(home, baselines=("eager", "compile")), lambda text: None)
    assert found.outcome.kind == "crashed"
    assert not found.failed_baselines
