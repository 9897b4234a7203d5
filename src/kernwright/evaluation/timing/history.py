"""What baselines took in earlier evaluations on this machine: one that was made slower makes everybody look faster."""

import json
from pathlib import Path

from kernwright.core.digest import digest
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Timings
from kernwright.evaluation.alone import alone, put

KEPT, LEAST = 24, 4
"""So many times of a baseline are kept; from so many on there is something to compare with."""
SLOWER = 1.3
"""So many times as long as usual is told: other work on a machine makes a call a tenth longer, and seldom a fifth."""


def beside_history(job: EvalJob, machine: str, timings: Timings) -> list[str]:
    """Sentences on baselines that took longer than they usually do here; the times are kept for the next evaluation.

    Usual is the lower quartile of those that are kept, of the same problem under the same plan: a machine that is
    mostly busy has no other measure of itself. What cannot be kept is not compared.
    """
    plan = job.plan
    name = digest((job.problem.id, job.target, machine, plan.name, plan.threads, timings.cache))
    path = Path(job.home) / "cache" / "history" / f"{name}.json"
    try:
        with alone(path):
            known = _known(path)
            told = []
            for timing in timings.workloads:
                for baseline in plan.baselines:
                    if (taken := timing.time_ns.get(baseline)) is None:
                        continue
                    before = known.get(f"{timing.workload} {baseline}", [])
                    told += _told(timing.workload, baseline, taken, before)
                    known[f"{timing.workload} {baseline}"] = [*before, taken][-KEPT:]
            put(path, known)
    except OSError:
        return []
    return told


def _told(workload: str, baseline: str, taken: float, before: list[float]) -> list[str]:
    if len(before) < LEAST:
        return []
    usual = sorted(before)[len(before) // 4]
    if taken <= SLOWER * usual:
        return []
    return [
        f"the baseline {baseline!r} took {taken / 1e3:.4g} µs on workload {workload!r}, {taken / usual:.2f} times as "
        f"long as it usually does on this machine ({len(before)} evaluations): look for other work on it, or judge "
        "again, before you trust the speedup"
    ]


def _known(path: Path) -> dict[str, list[float]]:
    """What is not what was kept counts as nothing."""
    try:
        known = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {
        str(name): [float(ns) for ns in taken if isinstance(ns, int | float) and ns > 0]
        for name, taken in known.items()
        if isinstance(taken, list)
    }
