"""A bundle that is consistent without anything having been judged, and hashes for one that was edited."""

import json
import random
from typing import Any

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.outcome import CheckResult, Evaluation, Samples, Verified
from kernwright.core.plan import Plan
from kernwright.core.problem import Problem, Workload
from kernwright.engine.bundles.document import resealed
from kernwright.engine.bundles.facts import Bundle
from kernwright.engine.bundles.promises import CHECKS
from kernwright.evaluation.timing.statistics import ABBA
from kernwright.evaluation.timing.summary import (
    CANDIDATE,
    Facts,
    confirmations,
    needed,
    sentence,
    summarise,
    with_left_out,
)

CALL_BLOCKS = 3
PLAN = Plan(
    name="full",
    blocks=8,
    max_blocks=24,
    half_width=0.01,
    process_sets=5,
    compare="all",
    cold=True,
    baselines=("eager", "compile"),
)


def made_bundle(
    rng: random.Random,
    *,
    workloads: int = 1,
    speedup: float = 1.5,
    compiled: float = 1.2,
    plan: Plan = PLAN,
    eager_ns: float = 1e6,
    target: str = "gpu:made",
) -> Bundle:
    """As if a candidate were `speedup` times, and the second baseline `compiled` times, as fast as the first.

    Where the target begins with `cpu:`, calls have one clock, and no floor is known.
    """
    synchronous = target.startswith("cpu:")
    stated = {f"w{i}": {"n": i, "weight": 1.0 + i} for i in range(workloads)}
    problem = Problem(
        name="made",
        source=f"WORKLOADS = {stated}\nclass Model: ...\ndef get_inputs(n): return [n]\n",
        workloads=tuple(Workload(name=f"w{i}", params={"n": i}, weight=1.0 + i) for i in range(workloads)),
    )
    candidate = Candidate(language="torch", files=(SourceFile(name="main.py", text="def kernel(x):\n    return x\n"),))
    times = {CANDIDATE: eager_ns / speedup, **dict(zip(plan.baselines, (eager_ns, eager_ns / compiled), strict=False))}
    facts = Facts(
        workloads=problem.timed,
        plan=plan,
        copy_ns=tuple(rng.uniform(1e4, 1e5) for _ in problem.timed),
        floor_ns=tuple(None if synchronous else rng.uniform(1e3, 1e4) for _ in problem.timed),
        aa_log_ratios={w.name: tuple(rng.gauss(0, 0.003) for _ in range(6)) for w in problem.timed},
        cache="cold",
    )
    calls = plan.blocks if synchronous else CALL_BLOCKS
    first_samples = _samples(rng, problem, times, 1, plan.blocks, calls)
    first = summarise(first_samples, facts)
    kept = {name: ns for name, ns in times.items() if name in (CANDIDATE, *needed(first, plan.baselines))}
    sets = confirmations(first, plan)
    timings = with_left_out(summarise(_samples(rng, problem, kept, sets, plan.blocks, calls), facts), first)
    evaluation = Evaluation(
        candidate=candidate.id,
        problem=problem.id,
        plan=plan.name,
        target=target,
        machine="made",
        judge_version=JUDGE_VERSION,
        outcome=Verified(
            timings=timings,
            reason=sentence(timings),
            confirmations=sets,
            first_samples=tuple(first_samples),
        ),
        checks=tuple(CheckResult(name=name, passed=True, evidence={"cases": 3.0}) for name in sorted(CHECKS)),
        isolation="namespaces",
        notes=("made up",),
        environment={"torch": "2.0"},
        resources={"bytes": 100.0},
        stage_s={"check": 0.5},
        seeds=(rng.getrandbits(64),),
    )
    return Bundle(candidate=candidate, problem=problem, plan=plan, evaluation=evaluation, kernwright="0")


def with_parts(data: bytes, parts: dict[str, Any]) -> bytes:
    """An edited bundle whose editor has computed all hashes anew."""
    return resealed(parts, json.loads(data)["kernwright"])


def _samples(
    rng: random.Random, problem: Problem, times: dict[str, float], sets: int, blocks: int, calls: int
) -> list[Samples]:
    found, longer = [], 0.0 if calls == blocks else 500.0
    for number in range(sets):
        for workload in problem.timed:
            for name, ns in times.items():
                device = tuple(ns * rng.uniform(0.98, 1.02) for _ in range(ABBA * blocks))
                found.append(
                    Samples(
                        participant=name,
                        workload=workload.name,
                        process_set=number,
                        device_ns=device,
                        call_ns=tuple(t + longer for t in device[: ABBA * calls]),
                        judge_ns=tuple(t + 9000.0 for t in device),
                    )
                )
    return found
