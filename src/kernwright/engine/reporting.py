"""Has a problem looked at in a process of its own, with a deadline."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import MachineFault, UserError
from kernwright.core.plan import Plan
from kernwright.core.problem import Problem
from kernwright.core.report import ProblemReport
from kernwright.languages import TABLE as LANGUAGES
from kernwright.store.codec import decode

from .executors.processes import LONGEST_WAIT_S, deadline_s
from .executors.wire import framed
from .intake import job_of
from .report_worker import Answer, Looked, NotLooked, Stage, Waits

STOP_S = 10.0
LOOK_S = 0.2
NOBODY = Candidate(language=next(iter(LANGUAGES)), files=(SourceFile(name="none.py", text=""),))
"""Stands where a job has a candidate and none plays a part."""


def report(
    problem: Problem,
    target: str,
    plan: Plan,
    home: Path,
    say: Callable[[str], None],
    stopped: Callable[[], bool] = lambda: False,
) -> ProblemReport:
    """See `kernwright.api.check`. From the moment that `stopped` says so, it ends its process and raises."""
    job = job_of(problem, NOBODY, target, plan, home)
    since = time.monotonic()
    deadline = since + deadline_s(plan, len(job.problem.timed))
    with tempfile.TemporaryFile() as log, _worker(log.fileno()) as process:
        assert process.stdin is not None
        process.stdin.write(framed(job))
        process.stdin.flush()
        while (frame := _frame(process, deadline, stopped)) is not None:
            match decode(Answer, frame).said:
                case Stage(text=text):
                    say(text)
                case Waits(begins=True):  # for other processes, which is not the problem's slowness
                    deadline += LONGEST_WAIT_S
                    since = time.monotonic()
                case Waits():
                    deadline -= LONGEST_WAIT_S - (time.monotonic() - since)
                case Looked(report=found):
                    return found
                case NotLooked(blame="user", text=text):
                    raise UserError(text)
                case NotLooked(text=text):
                    raise MachineFault(text)
        code = process.wait(STOP_S)
        log.seek(0)
        last = log.read()[-2000:].decode(errors="replace").strip()
    if code in (-signal.SIGKILL, 128 + signal.SIGKILL):
        raise UserError(
            f"problem {problem.name!r}: its process was killed, most likely since it needs more memory than there is; "
            "make its workloads smaller."
        )
    raise UserError(f"problem {problem.name!r} ended its process (status {code}); it last said: {last or 'nothing'}")


@contextmanager
def _worker(log: int) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-P", "-m", "kernwright.engine.report_worker", str(os.getpid())]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True
    )
    try:
        yield process
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()


def _frame(process: "subprocess.Popen[bytes]", deadline: float, stopped: Callable[[], bool]) -> bytes | None:
    head = _exactly(process, 4, deadline, stopped)
    return _exactly(process, int.from_bytes(head, "big"), deadline, stopped) if head is not None else None


def _exactly(
    process: "subprocess.Popen[bytes]", count: int, deadline: float, stopped: Callable[[], bool]
) -> bytes | None:
    assert process.stdout is not None
    data = b""
    while len(data) < count:
        left = deadline - time.monotonic()
        if left <= 0:
            raise UserError("Looking at the problem took too long; it was ended. Make its workloads smaller.")
        if stopped():
            raise MachineFault("Looking at the problem was stopped.")
        if not select.select([process.stdout], [], [], min(left, LOOK_S))[0]:
            continue
        got = os.read(process.stdout.fileno(), count - len(data))
        if not got:
            return None
        data += got
    return data
