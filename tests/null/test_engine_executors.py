"""Executors: what crosses, what ends, and what is left behind."""

import asyncio
import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_runs import PROBLEM, created, journal, kinds, once_each, scripted

from kernwright.core.errors import MachineFault, UserError
from kernwright.core.jobs import EvalJob
from kernwright.core.lease import open_lease
from kernwright.core.plan import PATIENCE, QUICK, Limits
from kernwright.core.problem import Problem
from kernwright.core.resolve import resolve
from kernwright.core.spec import ELSEWHERE
from kernwright.engine import service
from kernwright.engine.executors import TABLE
from kernwright.engine.executors.guard import descendants
from kernwright.engine.executors.processes import SHOWN_WAIT_S, deadline_s
from kernwright.testing.null import RESTED
from kernwright.testing.scripted import scripted as candidate

BOTH = pytest.mark.parametrize("kind", sorted(set(TABLE) - {ELSEWHERE}))


@contextlib.asynccontextmanager
async def executor(kind: str, home: Path, slots: int = 1, said: list[str] | None = None) -> AsyncIterator[Any]:
    said = [] if said is None else said
    made = resolve(TABLE[kind])("kernwright.testing.null:NullEvaluator", str(home), slots, said.append)
    try:
        yield made
    finally:
        await made.close()


def job(text: str) -> EvalJob:
    return EvalJob(
        problem=PROBLEM, candidate=candidate(text), target="cpu:null", plan=QUICK, language="", platform="", home=""
    )


async def submitted(kind: str, home: Path, *texts: str, said: list[str] | None = None) -> list[Any]:
    async with executor(kind, home, said=said) as made:
        return [await made.submit(job(text)) for text in texts]


@BOTH
def test_evaluations_and_progress_come_back(tmp_path: Path, kind: str) -> None:
    said: list[str] = []
    text = "SPEEDUP = 1.5; PRINT = 'a print that is no message'"
    one, two = asyncio.run(submitted(kind, tmp_path, text, "SPEEDUP = 1e400", said=said))
    assert one.candidate == candidate(text).id
    assert one.outcome.timings.speedup.estimate == 1.5
    assert two.outcome.timings.speedup.estimate == float("inf")
    assert said == ["judging nothing"] * 2


def test_a_worker_gets_the_problem_that_it_has_set_up(tmp_path: Path) -> None:
    other = replace(PROBLEM, name="other")

    async def worked() -> tuple[list[str], list[str]]:
        async with executor("processes", tmp_path, slots=2) as made:

            async def by(problem: Problem) -> str:
                evaluation = await made.submit(replace(job("WHO = True; SLEEP_S = 0.2"), problem=problem))
                return str(evaluation.notes[0])

            first = await asyncio.gather(by(PROBLEM), by(other))
            return first, [await by(PROBLEM), await by(other), await by(PROBLEM)]

    (one, two), then = asyncio.run(worked())
    assert one != two
    assert then == [one, two, one]


@BOTH
@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("USER_ERROR = 'no inputs'", UserError, "^no inputs$"),
        ("FAULTS = 1", MachineFault, "^fault 0 as ordered$"),
        ("BUG = 'ouch\\nand a list of backends'", MachineFault, "raised ValueError: ouch$"),
    ],
)
def test_errors_cross_as_what_they_are(
    tmp_path: Path, kind: str, text: str, error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        asyncio.run(submitted(kind, tmp_path, text))


def test_a_worker_that_dies_is_a_fault_with_its_last_words_and_is_replaced(tmp_path: Path) -> None:
    async def both() -> Any:
        async with executor("processes", tmp_path) as made:
            with pytest.raises(MachineFault, match=r"exit status 3.*out of luck"):
                await made.submit(job("DIE = 'out of luck'"))
            return await made.submit(job("SPEEDUP = 1.5"))

    assert asyncio.run(both()).outcome.kind == "measured"
    assert descendants(os.getpid()) == []


SHORT = replace(QUICK, baselines=(), limits=Limits(build_s=0.2, load_s=0.2, reference_s=0.2))
"""Its deadline is a second."""


@contextlib.contextmanager
def held(lease: str) -> Iterator[None]:
    handle = open_lease(lease)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(handle)


def test_every_first_call_of_a_baseline_has_its_time() -> None:
    """Compiling takes minutes where a module's loop has two thousand steps, and each workload's shapes take it anew."""
    each = PATIENCE * QUICK.limits.load_s + QUICK.limits.call_s
    assert deadline_s(QUICK, 3) == deadline_s(replace(QUICK, baselines=()), 3) + 3 * 2 * each


def test_waiting_for_others_does_not_count_against_the_deadline_and_is_shown(tmp_path: Path) -> None:
    async def waits(said: list[str]) -> tuple[Any, str]:
        async with executor("processes", tmp_path, said=said) as made:
            await made.submit(job("N = 1"))
            with held(name):
                waiting = asyncio.create_task(made.submit(replace(job(f"LEASE = {name!r}"), plan=SHORT)))
                await asyncio.sleep(SHOWN_WAIT_S + 0.5)
                assert not waiting.done()
            evaluation = await waiting
            with held(name):
                slow = job(f"LEASE = {name!r}; SLEEP_S = 60.0")
                waiting = asyncio.create_task(made.submit(replace(slow, plan=SHORT)))
                await asyncio.sleep(1.5)
                assert not waiting.done()
            with pytest.raises(MachineFault) as fault:
                await waiting
            return evaluation, str(fault.value)

    name, said = f"test-{tmp_path.name}-{os.getpid()}", list[str]()
    try:
        evaluation, fault = asyncio.run(waits(said))
    finally:
        (Path(tempfile.gettempdir()) / f"kernwright-lease-{name}.lock").unlink()
    assert evaluation.outcome.kind == "measured"
    assert fault.startswith("an evaluation took longer than 1 s and was ended in its stage 'judging nothing'; ")
    assert [text for text in said if text != "judging nothing"] == [hint := said[2]]
    assert len(said) == 5
    assert hint.startswith("waiting for other evaluations on this machine (process ")
    assert str(os.getpid()) in hint


@BOTH
def test_an_evaluator_rests_between_evaluations(tmp_path: Path, kind: str) -> None:
    async def rests() -> Any:
        async with executor(kind, tmp_path) as made:
            await made.submit(job("N = 1"))
            log = tmp_path / RESTED
            log.touch()
            deadline = time.monotonic() + 20
            while not log.read_text():
                assert time.monotonic() < deadline
                await asyncio.sleep(0.05)
            return await made.submit(job("N = 2"))

    assert asyncio.run(rests()).outcome.kind == "measured"


@pytest.mark.alone
def test_slots_bound_the_workers_and_they_work_side_by_side(tmp_path: Path) -> None:
    async def four() -> tuple[float, int]:
        async with executor("processes", tmp_path, slots=2) as made:
            await asyncio.gather(*(made.submit(job(f"N = {n}")) for n in range(2)))
            began = time.monotonic()
            await asyncio.gather(*(made.submit(job(f"N = {n}; SLEEP_S = 0.5")) for n in range(4)))
            return time.monotonic() - began, len(descendants(os.getpid()))

    seconds, processes = asyncio.run(four())
    assert 1.0 <= seconds < 1.9
    assert processes == 4  # two workers, each with its guard
    assert descendants(os.getpid()) == []


def test_cancelling_ends_the_evaluation_and_what_it_started(tmp_path: Path) -> None:
    async def cancelled() -> float:
        async with executor("processes", tmp_path) as made:
            task = asyncio.create_task(made.submit(job("SLEEP_S = 60.0")))
            await asyncio.sleep(1.0)
            began = time.monotonic()
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            return time.monotonic() - began

    assert asyncio.run(cancelled()) < 5
    assert descendants(os.getpid()) == []


GRANDPARENT = """
import subprocess, sys, time
class Evaluator:
    def __init__(self, home): self.home = home
    def evaluate(self, job, progress=None):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        with open(self.home + "/pid", "w") as out: out.write(str(child.pid) + "\\n")
        time.sleep(600)
    def close(self): pass
"""
ENGINE = """
import sys
from pathlib import Path
from kernwright.engine import service
service.drive(Path(sys.argv[1]), sys.argv[2], resume=False)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_an_engine_that_is_killed(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "stubborn.py").write_text(GRANDPARENT)
    run = created(tmp_path, scripted("N = 1"), executor="processes", evaluator="stubborn:Evaluator")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    engine = subprocess.Popen(
        [sys.executable, "-c", ENGINE, str(tmp_path), run], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        pid = _soon(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        family = [*descendants(engine.pid), int(pid)]
        assert len(family) >= 3
    finally:
        engine.send_signal(how)
        engine.wait(20)
    _soon(lambda: not any(_alive(one) for one in family))


def _soon(condition: Any) -> Any:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if (value := condition()) and (value is True or value.endswith("\n")):
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen in 20 s")


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_killed_run_is_resumed_without_loss_or_repetition(tmp_path: Path) -> None:
    slow = [0.05] * 4 + [1.0] * 4  # so that it is not over when it is killed, however late that is
    lines = [f"SPEEDUP = 1.{n}; SLEEP_S = {s}" for n, s in zip((1, 3, 2, 3, 5, 4, 1, 2), slow, strict=True)]
    run = created(tmp_path, scripted(*lines), executor="processes", evaluations_in_flight=2)
    engine = subprocess.Popen([sys.executable, "-c", ENGINE, str(tmp_path), run])
    while kinds(tmp_path, run).count("evaluated") < 3:
        time.sleep(0.01)
    engine.kill()
    engine.wait()
    before = journal(tmp_path, run)
    graph = service.drive(tmp_path, run, resume=True)
    assert journal(tmp_path, run)[: len(before)] == before
    assert before[-1].event.kind != "run_finished"
    assert graph.champion() is not None
    once_each(tmp_path, run)
