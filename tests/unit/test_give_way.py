"""A baseline that compiles for minutes keeps nobody from timing: it stands still while others have the device alone."""

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
from kernwright.evaluation.lineup import Lineup
from kernwright.evaluation.participant import Participant
from kernwright.evaluation.place import HOST
from kernwright.evaluation.reference import Reference
from kernwright.evaluation.setting import prepare
from kernwright.evaluation.workshop import Workshop
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
