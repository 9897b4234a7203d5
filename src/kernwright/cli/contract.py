"""What `judge --json` prints. The shape is a contract: keys are added, never taken away or given another meaning."""

from typing import Any

from kernwright.core.outcome import (
    BuildFailed,
    Checked,
    Crashed,
    Evaluation,
    Interval,
    Suspicious,
    Timings,
    WorkloadTiming,
    timings_of,
)

from . import figures

LOG_CHARACTERS = 4000


def reason_of(evaluation: Evaluation) -> str:
    """Why it ended as it did."""
    return evaluation.outcome.reason


def log_of(evaluation: Evaluation) -> str | None:
    """The end of what the build or the candidate wrote; None where it ended in neither way."""
    match evaluation.outcome:
        case BuildFailed(log=log) | Crashed(log=log):
            return log[-LOG_CHARACTERS:]
        case _:
            return None


def notes_of(evaluation: Evaluation) -> list[str]:
    """What the judge noted, and why a baseline has no speedup though it works."""
    timings = timings_of(evaluation.outcome)
    return [
        *evaluation.notes,
        *(
            f"the baseline {name!r} was clearly slower than the faster one in the first measurement, so the "
            f"confirmation left it out; against it the candidate was {figures.interval(then)} then"
            for name, then in (timings.left_out if timings else {}).items()
        ),
    ]


def judged(evaluation: Evaluation, *, samples: bool = False) -> dict[str, Any]:
    """One evaluation as a plain object; what was not measured is None.

    The figures of a suspicious outcome stand under `doubtful`, so that no program takes them for a speedup.
    """
    outcome = evaluation.outcome
    timings = timings_of(outcome)
    doubted = outcome.timings if isinstance(outcome, Suspicious) else None
    return {
        "verdict": outcome.kind,
        "reason": outcome.reason,
        "where": outcome.where if isinstance(outcome, Checked) else None,
        "faster": timings.faster if timings else False,
        **_figures(timings, samples=samples),
        "isolation": evaluation.isolation,
        "checks": [
            {"name": c.name, "passed": c.passed, "detail": c.detail, "evidence": c.evidence} for c in evaluation.checks
        ],
        "doubtful": _figures(doubted, samples=samples) if doubted else None,
        "log": log_of(evaluation),
        "notes": notes_of(evaluation),
        "failed_baselines": evaluation.failed_baselines,
        "candidate": evaluation.candidate,
        "problem": evaluation.problem,
        "plan": evaluation.plan,
        "target": evaluation.target,
        "machine": evaluation.machine,
        "environment": evaluation.environment,
        "resources": evaluation.resources,
        "stage_s": evaluation.stage_s,
        "seeds": list(evaluation.seeds),
        "judge_version": evaluation.judge_version,
    }


def _figures(timings: Timings | None, *, samples: bool) -> dict[str, Any]:
    t = timings
    plain: dict[str, Any] = {
        "speedup": t.speedup.estimate if t else None,
        "speedup_low": t.speedup.low if t else None,
        "speedup_high": t.speedup.high if t else None,
        "speedup_call": t.speedup_call.estimate if t else None,
        "speedup_eager": _estimate(t.speedup_eager) if t else None,
        "speedup_compile": _estimate(t.speedup_compile) if t else None,
        "speedup_champion": _estimate(t.speedup_champion) if t else None,
        "intervals": _intervals(t) if t else None,
        "left_out": {name: _interval(then) for name, then in t.left_out.items()} if t else None,
        "baseline": t.baseline if t else None,
        "workloads": [_workload(w) for w in t.workloads] if t else None,
        "threads": t.threads if t else None,
        "cache": t.cache if t else None,
        "aa_floor": t.aa_floor if t else None,
        "drift": t.drift if t else None,
        "of_floor": t.of_floor if t else None,
    }
    if samples:
        plain["samples"] = list(t.samples) if t else None
    return plain


def _workload(timing: WorkloadTiming) -> dict[str, Any]:
    return {
        "name": timing.workload,
        "weight": timing.weight,
        "time_ns": timing.time_ns,
        "baseline": timing.baseline,
        "speedup": timing.speedup.estimate,
        "speedup_low": timing.speedup.low,
        "speedup_high": timing.speedup.high,
        "copy_ns": timing.copy_ns,
        "copy_ratio": copy_ratio(timing),
        "floor_ns": timing.floor_ns,
        "of_floor": timing.of_floor,
    }


def copy_ratio(timing: WorkloadTiming) -> float | None:
    """Speed against a plain copy of as many bytes: 1 is as fast as memory allows."""
    candidate = timing.time_ns.get("candidate")
    return timing.copy_ns / candidate if timing.copy_ns and candidate else None


def _intervals(t: Timings) -> dict[str, Any]:
    all_of_them = {
        "speedup": t.speedup,
        "speedup_call": t.speedup_call,
        "speedup_eager": t.speedup_eager,
        "speedup_compile": t.speedup_compile,
        "speedup_champion": t.speedup_champion,
    }
    return {name: _interval(each) if each else None for name, each in all_of_them.items()}


def _interval(each: Interval) -> dict[str, Any]:
    return {"estimate": each.estimate, "low": each.low, "high": each.high, "n": each.n}


def _estimate(interval: Interval | None) -> float | None:
    return interval.estimate if interval else None
