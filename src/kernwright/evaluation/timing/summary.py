"""From raw samples to `Timings`: which baseline, which speedup, how sure.

All of it is a function of samples, so that whoever has them can do it again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Literal

from kernwright.core.outcome import Interval, Samples, Timings, WorkloadTiming
from kernwright.core.plan import Plan
from kernwright.core.problem import Workload

from .statistics import ABBA, aa_floor, block_log_ratios, set_log_ratio, t_interval, trend, weighted_mean

CANDIDATE, CHAMPION = "candidate", "champion"
NEAR = 1.1
"""A baseline within this factor of the faster one runs in the confirmation too, and to the end of every race."""
LOUD = 0.05
"""A floor above 5 % tells of other work on the machine, or of a problem whose calls wait for their host, more than of
the machine."""
Clock = Literal["device_ns", "call_ns"]
Group = Sequence[Mapping[str, Samples]]
"""One workload: per process set the samples by participant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What stands beside the samples."""

    workloads: tuple[Workload, ...]
    """Those that are timed, in order."""
    plan: Plan
    copy_ns: tuple[float | None, ...]
    """One for each workload."""
    floor_ns: tuple[float | None, ...]
    """The same."""
    aa_log_ratios: dict[str, tuple[float, ...]]
    cache: str


def summarise(samples: Sequence[Samples], facts: Facts) -> Timings:
    """One process set: intervals over its blocks. Several: over the sets, each set one value."""
    groups = [_group(samples, workload.name) for workload in facts.workloads]
    chosen = [_fastest(group, facts.plan.baselines) for group in groups]
    weights = [workload.weight for workload in facts.workloads]
    first = facts.plan.blocks if len(groups[0]) == 1 else None

    def over(others: Sequence[str], clock: Clock = "device_ns") -> Interval:
        ratios = [_ratios(group, other, clock) for group, other in zip(groups, others, strict=True)]
        return t_interval(_pooled(ratios, weights), first=first)

    def against(name: str) -> Interval | None:
        present = all(name in each for group in groups for each in group)
        return over([name] * len(groups)) if present else None

    speedup = over(chosen)
    # The first measurement is told what as many sets as confirm it would show.
    sets = len(groups[0]) if len(groups[0]) > 1 else max(1, facts.plan.process_sets)
    floor = max(aa_floor(facts.aa_log_ratios[workload.name], sets) for workload in facts.workloads)
    drift = max(map(_drift, groups, chosen), key=abs)
    return Timings(
        workloads=tuple(_workload(index, group, chosen[index], facts, first) for index, group in enumerate(groups)),
        speedup=speedup,
        speedup_call=over(chosen, "call_ns"),
        speedup_eager=against("eager"),
        speedup_compile=against("compile"),
        speedup_champion=against(CHAMPION),
        baseline=chosen[0] if len(set(chosen)) == 1 else "mixed",
        faster=speedup.low > 1 + max(floor, abs(drift)),
        aa_floor=floor,
        drift=drift,
        cache=facts.cache,
        threads=facts.plan.threads,
        samples=tuple(samples),
        aa_log_ratios=facts.aa_log_ratios,
    )


def with_left_out(confirmed: Timings, first: Timings) -> Timings:
    """What fresh process sets gave, with the first measurement's speedups against baselines that they left out."""
    before = {"eager": first.speedup_eager, "compile": first.speedup_compile}
    now = {"eager": confirmed.speedup_eager, "compile": confirmed.speedup_compile}
    left = {name: speedup for name, speedup in before.items() if speedup is not None and now[name] is None}
    return replace(confirmed, left_out=left)


def confirmations(first: Timings, plan: Plan) -> int:
    """How many fresh process sets the plan asks for after this first measurement."""
    return plan.confirmations(min(workload.time_ns[CANDIDATE] for workload in first.workloads))


def needed(first: Timings, baselines: Sequence[str]) -> list[str]:
    """What a confirmation times: the first baseline, which costs little, and those that are the fastest
    somewhere, or near it."""
    names = {baselines[0]}
    for workload in first.workloads:
        best = workload.time_ns[workload.baseline]
        names |= {n for n in baselines if workload.time_ns.get(n, float("inf")) <= NEAR * best}
    return [name for name in baselines if name in names]


def sentence(timings: Timings) -> str:
    """The reason of a measured or verified outcome."""
    s = timings.speedup
    word = "faster" if timings.faster else "not shown to be faster"
    if not timings.faster and s.low > 1 + timings.aa_floor:
        word += f", since the baseline drifted by {timings.drift:+.1%}"
    elif not timings.faster and s.low > 1:
        word += f", since equal kernels differ by up to {timings.aa_floor:.1%} here"
        word += " (end other work on the machine, and judge it again)" if timings.aa_floor > LOUD else ""
    count, sets = len(timings.workloads), len({sample.process_set for sample in timings.samples})
    return (
        f"{word}: {s.estimate:.3f}x [{s.low:.3f}, {s.high:.3f}] against {timings.baseline} "
        f"on {count} workload{'s' if count != 1 else ''}, {s.n} {'process sets' if sets > 1 else 'blocks'}"
    )


def _group(samples: Sequence[Samples], workload: str) -> Group:
    sets: dict[int, dict[str, Samples]] = {}
    for each in samples:
        if each.workload == workload:
            sets.setdefault(each.process_set, {})[each.participant] = each
    return [sets[number] for number in sorted(sets)]


def _workload(index: int, group: Group, baseline: str, facts: Facts, first: int | None) -> WorkloadTiming:
    workload = facts.workloads[index]
    return WorkloadTiming(
        workload=workload.name,
        weight=workload.weight,
        time_ns={name: _median(group, name) for name in group[0]},
        baseline=baseline,
        speedup=t_interval(_ratios(group, baseline, "device_ns"), first=first),
        copy_ns=facts.copy_ns[index],
        floor_ns=facts.floor_ns[index],
    )


def _drift(group: Group, name: str) -> float:
    """How much a participant's own times changed over a race, as a ratio less one; 0 where chance may show as much."""
    logs = [list(map(math.log, each[name].device_ns)) for each in group]
    return math.expm1(trend([[fmean(pair) for pair in zip(ts[::ABBA], ts[1::ABBA], strict=True)] for ts in logs]))


def _fastest(group: Group, baselines: Sequence[str]) -> str:
    present = [name for name in baselines if all(name in each and _stayed(each, name) for each in group)]
    return min(present, key=lambda name: _median(group, name))


def _stayed(samples: Mapping[str, Samples], name: str) -> bool:
    """To the end: who left before has times of another while, which may have been a quicker one."""
    return len(samples[name].device_ns) == len(samples[CANDIDATE].device_ns)


def _median(group: Group, name: str) -> float:
    return median(time for each in group for time in each[name].device_ns)


def _ratios(group: Group, other: str, clock: Clock) -> list[float]:
    pairs = [(getattr(each[CANDIDATE], clock), getattr(each[other], clock)) for each in group]
    return block_log_ratios(*pairs[0]) if len(pairs) == 1 else [set_log_ratio(*pair) for pair in pairs]


def _pooled(ratios: Sequence[Sequence[float]], weights: Sequence[float]) -> list[float]:
    count = min(map(len, ratios))
    return [weighted_mean([r[i] for r in ratios], weights) for i in range(count)]
