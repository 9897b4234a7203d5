"""An evaluator that runs nothing: what it says is written in the candidate, or follows from its digest."""

import ast
import fcntl
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernwright.core.candidate import Candidate
from kernwright.core.errors import MachineFault, UserError
from kernwright.core.jobs import JUDGE_VERSION, EvalJob, evaluation_key
from kernwright.core.lease import open_lease, take
from kernwright.core.outcome import (
    Built,
    Evaluation,
    Interval,
    Measured,
    Outcome,
    Timings,
    Verified,
    WorkloadTiming,
    Wrong,
)
from kernwright.core.profile import Profile

EXECUTED = "executed.log"
"""In the home folder where it exists: one line for each evaluation that was carried out."""
RESTED = "rested.log"
"""Likewise: one line, with the process's id, for each time that it was told to rest."""


class NullEvaluator:
    """Reads module-level literals of the candidate's main file.

    `SPEEDUP` (else drawn from the candidate's digest), `CONFIRMED` (speedup under a plan that
    confirms), `WRONG` (`True`, `"confirm"`, or the reason), `LEASE` (which is waited for), `SLEEP_S`, `PRINT`,
    `FAULTS` and `LUCKY` (how many times the machine fails first, or it is twice as fast first, counted in files of
    the home folder),
    `FAILED_BASELINES` (unless the job names some), `USER_ERROR`, `BUG`, `DIE`, `WHO` (the process notes its id), `GPU`
    (the model it was timed on). In place of a profile it gives `COUNTERS`, or raises MachineFault of `BLIND`.
    """

    def __init__(self, home: str) -> None:
        self._home = Path(home)
        self._closed = False

    def evaluate(self, job: EvalJob, progress: Callable[[str], None] | None = None) -> Evaluation:
        says = literals(job.candidate)
        if job.kind == "profile":
            return _looked_at(job, says)
        if progress is not None:
            progress("judging nothing")
        if "PRINT" in says:
            print(says["PRINT"], flush=True)
        if "LEASE" in says:
            _wait_for(says["LEASE"])
        self._wait(says.get("SLEEP_S", 0.0))
        self._misbehave(job.candidate, says)
        if self._among_the_first("lucky", job.candidate, says.get("LUCKY", 0)) is not None:
            says["SPEEDUP"] = 2.0
        log = self._home / EXECUTED
        if log.exists():
            key = evaluation_key(job.candidate.id, job.problem.id, job.plan)
            with log.open("a") as out:
                out.write(f"{key}\n")
        return Evaluation(
            candidate=job.candidate.id,
            problem=job.problem.id,
            plan=job.plan.name,
            target=job.target,
            machine="null",
            judge_version=JUDGE_VERSION,
            outcome=_outcome(job, says),
            environment={"gpu": says["GPU"]} if "GPU" in says else {},
            notes=(str(os.getpid()),) if "WHO" in says else (),
            failed_baselines=job.failed_baselines or dict(says.get("FAILED_BASELINES", {})),
        )

    def rest(self) -> None:
        if (self._home / RESTED).exists():
            with (self._home / RESTED).open("a") as out:
                out.write(f"{os.getpid()}\n")

    def close(self) -> None:
        self._closed = True

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self._closed:
            time.sleep(min(left, 0.02))

    def _misbehave(self, candidate: Candidate, says: dict[str, Any]) -> None:
        if "USER_ERROR" in says:
            raise UserError(says["USER_ERROR"])
        if "BUG" in says:
            raise ValueError(says["BUG"])
        if "DIE" in says:
            os.write(2, str(says["DIE"]).encode())
            os._exit(3)
        if (attempt := self._among_the_first("fault", candidate, says.get("FAULTS", 0))) is not None:
            raise MachineFault(f"fault {attempt} as ordered")

    def _among_the_first(self, what: str, candidate: Candidate, count: int) -> int | None:
        """Which of so many times this is, by whatever process; None after these."""
        for attempt in range(count):
            mark = self._home / f"{what}-{candidate.id}-{attempt}"
            if not mark.exists():
                mark.touch()
                return attempt
        return None


def _looked_at(job: EvalJob, says: dict[str, Any]) -> Evaluation:
    if "BLIND" in says:
        raise MachineFault(says["BLIND"])
    return Evaluation(
        candidate=job.candidate.id,
        problem=job.problem.id,
        plan=job.plan.name,
        target=job.target,
        machine="null",
        judge_version=JUDGE_VERSION,
        outcome=Built(reason="looked at as ordered"),
        profile=Profile(tools=("nothing",), counters=says.get("COUNTERS", {}), missing=says.get("MISSING", ())),
    )


def _wait_for(lease: str) -> None:
    handle = open_lease(lease)
    take(handle, fcntl.LOCK_EX)
    os.close(handle)


def literals(candidate: Candidate) -> dict[str, Any]:
    """The module-level literals of the main file."""
    found = {}
    for node in ast.parse(candidate.main.text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = ast.literal_eval(node.value)
    return found


def _outcome(job: EvalJob, says: dict[str, Any]) -> Outcome:
    confirms = job.plan.process_sets > 0
    wrong = says.get("WRONG")
    if wrong is True or (confirms and wrong == "confirm"):
        return Wrong(reason="wrong as ordered")
    if isinstance(wrong, str) and wrong != "confirm":
        return Wrong(reason=wrong)
    speedup = says.get("SPEEDUP", random.Random(job.candidate.id).uniform(0.5, 2.0))
    if confirms:
        timings = null_timings(says.get("CONFIRMED", speedup))
        return Verified(timings=timings, reason="verified as ordered", confirmations=job.plan.process_sets)
    return Measured(timings=null_timings(speedup), reason="measured as ordered")


def null_timings(speedup: float) -> Timings:
    """Timings of one workload with this speedup and a one per cent interval."""
    interval = Interval(estimate=speedup, low=speedup * 0.99, high=speedup * 1.01, n=8)
    workload = WorkloadTiming(
        workload="default",
        weight=1.0,
        time_ns={"candidate": 1e6 / speedup, "eager": 1e6},
        baseline="eager",
        speedup=interval,
        copy_ns=None,
    )
    return Timings(
        workloads=(workload,),
        speedup=interval,
        speedup_call=interval,
        speedup_eager=interval,
        speedup_compile=None,
        speedup_champion=None,
        baseline="eager",
        faster=speedup > 1.02,
        aa_floor=0.02,
        cache="llc-warm",
        threads=1,
        samples=(),
    )
