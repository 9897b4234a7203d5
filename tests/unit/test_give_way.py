"""Neither a baseline that compiles for minutes nor checks keep anybody from timing: they stand still meanwhile."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

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


@contextmanager
def timing_by_others(seconds: float = 0.03) -> Iterator[list[tuple[float, float]]]:
    """Somebody who has the device alone again and again, and when."""
    over, alone = threading.Event(), list[tuple[float, float]]()

    def times() -> None:
        while not over.is_set():
            with Session.lease.held(alone=True):
                began = time.monotonic()
                time.sleep(seconds)
                alone.append((began, time.monotonic()))
            time.sleep(0.01)

    thread = threading.Thread(target=times, daemon=True)
    thread.start()
    try:
        yield alone
    finally:
        over.set()
        thread.join(5)


def test_checks_stand_still_between_two_calls_while_others_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    slow = RIGHT.replace("    return", "    __import__('time').sleep(0.01)\n    return")
    asked = replace(job(slow), home=str(tmp_path), platform="test_give_way:Platform")
    asked = replace(asked, plan=replace(asked.plan, baselines=("eager",)))
    calls, call, stages = list[tuple[float, float]](), Participant.call, dict[str, float]()

    def noted(self: Participant, *given: Any, **named: Any) -> Any:
        began = time.monotonic()
        try:
            return call(self, *given, **named)
        finally:
            calls.append((began, time.monotonic()))

    monkeypatch.setattr(Participant, "call", noted)
    with timing_by_others() as alone, closing(Judge(str(tmp_path))) as judge:
        # "check" comes once more.
        evaluation = judge.evaluate(asked, lambda stage: stages.setdefault(stage, time.monotonic()))
    assert isinstance(evaluation.outcome, Measured), evaluation.outcome
    during = [(began, ended) for began, ended in alone if stages["check"] < began and ended < stages["baselines"]]
    assert len(during) >= 3, "others had the device while checks went on"
    assert not [each for each in during for began, ended in calls if began < each[1] and each[0] < ended]
    assert evaluation.stage_s["wait"] >= 0.02 * len(during)


class Recorded:
    """A participant, a share and a session that write down what is done with them; lending takes as long as it says."""

    def __init__(self, *, had: bool = True) -> None:
        self.done, self.waits, self.now, self._had, self.takes_s = list[str](), list[float](), 0.0, had, 10.0

    def __getattr__(self, name: str) -> Any:
        return lambda: self.done.append(name)

    @property
    def runner(self) -> "Recorded":
        return self

    def wanted(self) -> bool:
        return True

    def lend(self) -> bool:
        self.done.append("lend")
        self.now += self.takes_s
        return self._had


def recorded(monkeypatch: pytest.MonkeyPatch, *, had: bool = True) -> tuple[Recorded, giving_way.Courtesy]:
    all_ = Recorded(had=had)
    monkeypatch.setattr(giving_way, "monotonic", lambda: all_.now)
    return all_, giving_way.Courtesy(cast(Any, all_), all_, cast(Any, all_), all_.waits.append)


def test_it_stands_still_until_its_next_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message lets it go on, and says whose fault it is where it moved before."""
    all_, courtesy = recorded(monkeypatch)
    courtesy()
    assert all_.done == [], "it had the device for no time yet"
    all_.now += giving_way.LEAST_S
    courtesy()
    assert all_.done == ["settle", "freeze", "lend"]
    assert all_.waits == [10.0]


def test_the_longer_others_had_it_the_longer_it_is_had_before_they_have_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    all_, courtesy = recorded(monkeypatch)
    all_.now += giving_way.LEAST_S
    courtesy()
    for later, lent in ((0.1, 1), (0.5, 1), (0.1, 2)):
        all_.now += later
        courtesy()
        assert all_.done.count("lend") == lent


def test_who_is_at_work_goes_on_when_others_had_it_and_has_it_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """A baseline that compiles beside a queue of those who time comes to its end."""
    all_, courtesy = recorded(monkeypatch)
    all_.now += giving_way.LEAST_S
    assert courtesy.meanwhile() == pytest.approx(10.0)
    assert all_.done == ["freeze", "lend", "thaw"]
    all_.now += 0.1
    assert courtesy.meanwhile() == 0.0
    all_.now += 10.0 * giving_way.LEAST_SHARE
    assert courtesy.meanwhile() == pytest.approx(10.0)
    assert all_.waits == []


def test_who_gave_way_in_vain_goes_on_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    all_, courtesy = recorded(monkeypatch, had=False)
    all_.takes_s = 0.25
    all_.now += giving_way.LEAST_S
    for _ in range(19):
        courtesy()
        all_.now += giving_way.IN_VAIN_S / 10
    assert all_.done.count("lend") == 2
