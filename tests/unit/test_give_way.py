"""Neither a baseline that compiles for minutes nor checks keep anybody from timing: they stand still meanwhile."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from test_room import RIGHT, SOURCE, job

from kernwright.core.lease import Share
from kernwright.core.outcome import Measured
from kernwright.evaluation import giving_way
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.lineup import Lineup
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.participants.workshop import Workshop
from kernwright.evaluation.problem.place import HOST
from kernwright.evaluation.problem.reference import Reference
from kernwright.evaluation.problem.setting import prepare
from kernwright.platforms.cpu import Cpu, CpuSession
from kernwright.platforms.cuda_lease import DeviceLease

COMPILES_S = 2.0
"""Processor time of a runner's first call."""
SLOW = SOURCE.replace(
    "        return torch.softmax",
    f"""        import os, time
        end = time.process_time() + ({COMPILES_S} if os.getpid() < 100 and not hasattr(self, "done") else 0.0)
        while time.process_time() < end:
            pass
        self.done = True
        return torch.softmax""",
)
"""In the runner's own namespace, where process numbers are small."""


class Session(CpuSession):
    """The processor, with the lease of a device."""

    lease = DeviceLease("give-way")

    @contextmanager
    def shared(self) -> Iterator[Share]:  # type: ignore[override]
        with self.lease.held(alone=False) as share:
            yield share


class Platform(Cpu):
    """Opens it."""

    def open(self, target: str) -> CpuSession:
        return Session()


def test_a_first_call_stands_still_while_others_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    asked = job(RIGHT, SLOW)
    asked = replace(asked, home=str(tmp_path), plan=replace(asked.plan, baselines=("eager",)))
    warm, waited_s, ran_ns = Participant.warm, list[float](), list[int]()

    def times(participant: Participant) -> None:
        time.sleep(0.5)
        began = time.monotonic()
        with Session.lease.held(alone=True):
            waited_s.append(time.monotonic() - began)
            before = participant.runner.cpu_ns()
            time.sleep(0.3)
            ran_ns.append(participant.runner.cpu_ns() - before)

    def warmed(self: Participant, *given: Any) -> None:
        thread = threading.Thread(target=times, args=(self,), daemon=True)
        thread.start()
        began = time.monotonic()
        warm(self, *given)
        assert time.monotonic() - began > COMPILES_S
        thread.join(5)

    monkeypatch.setattr(Participant, "warm", warmed)
    with (
        closing(Workshop(Platform(), asked.target)) as shop,
        closing(Reference(asked.problem, place=HOST)) as reference,
    ):
        setting = prepare(reference, asked.problem.workloads[0], 0, random.Random(1), vary=True)
        with closing(Lineup(shop, asked)) as lineup:
            assert [each.name for each in lineup.warm([setting])] == ["eager"]
    assert max(waited_s, default=60.0) < 0.5
    assert ran_ns == [0]


def test_checks_stand_still_between_two_calls_while_others_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(giving_way, "LEAST_S", 0.02)
    slow = RIGHT.replace("    return", "    __import__('time').sleep(0.01)\n    return")
    asked = replace(job(slow), home=str(tmp_path), platform="test_give_way:Platform")
    asked = replace(asked, plan=replace(asked.plan, baselines=("eager",)))
    calls, alone, call = list[tuple[float, float]](), list[tuple[float, float]](), Participant.call
    stages, over = dict[str, float](), threading.Event()

    def noted(self: Participant, *given: Any, **named: Any) -> Any:
        began = time.monotonic()
        try:
            return call(self, *given, **named)
        finally:
            calls.append((began, time.monotonic()))

    def times() -> None:
        while not over.is_set():
            with Session.lease.held(alone=True):
                began = time.monotonic()
                time.sleep(0.03)
                alone.append((began, time.monotonic()))
            time.sleep(0.01)

    def progress(stage: str) -> None:
        stages.setdefault(stage, time.monotonic())  # "check" comes once more
        if stage == "measure":
            over.set()

    monkeypatch.setattr(Participant, "call", noted)
    thread = threading.Thread(target=times, daemon=True)
    thread.start()
    with closing(Judge(str(tmp_path))) as judge:
        evaluation = judge.evaluate(asked, progress)
    thread.join(5)
    assert isinstance(evaluation.outcome, Measured), evaluation.outcome
    during = [(began, ended) for began, ended in alone if stages["check"] < began and ended < stages["baselines"]]
    assert len(during) >= 3, "others had the device while checks went on"
    assert not [each for each in during for began, ended in calls if began < each[1] and each[0] < ended]
    assert evaluation.stage_s["wait"] >= 0.03 * len(during)
