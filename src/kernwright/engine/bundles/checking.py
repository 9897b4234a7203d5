"""Whether all that a bundle states follows from what it holds."""

import json
import math
from collections.abc import Iterable, Sequence, Set
from dataclasses import asdict
from typing import Any

from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.outcome import Samples, Timings
from kernwright.evaluation.timing.statistics import ABBA
from kernwright.evaluation.timing.summary import (
    CANDIDATE,
    CHAMPION,
    Facts,
    confirmations,
    needed,
    sentence,
    summarise,
    with_left_out,
)
from kernwright.store.codec import encode

from .facts import Bundle, Refused, shown
from .machines import require_one_machine
from .promises import require_kept
from .spelling import VERSION
from .times import require_possible

LEAST_SETS, LEAST_BLOCKS = 5, 8
"""Less than this is not called verified."""
LEAST_NS, MOST_NS = 1.0, 1e16
LEAST_WEIGHT, MOST_WEIGHT = 1e-9, 1e9
LEAST_PAIRS, MOST_LOG_RATIO, MOST_FLOOR = 6, 3.0, 3.0
"""Of the A/A floor. Fewer pairs, or equal processes twentyfold and equal kernels fourfold apart, are no measurement: a
GPU's floor seldom passes 0.2, and that of a processor with much other work comes near 1."""
MOST_PLACES = 10_000
"""Workloads times process sets times participants."""
ROUNDING = 1e-9
"""Relative; another machine's exponentials differ in the last digits."""
LEVELS = ("namespaces", "landlock", "rlimits")
MOST_SEED = 2**64
MOST_LIMIT = 2**63
"""Of seconds or bytes: more than any clock or memory counts."""


def require_consistent(bundle: Bundle) -> None:
    """Compute again whatever can be computed.

    Raises:
        Refused: something does not follow from the rest.
    """
    for check in (_problem, _identities, _plan, _limits, _conditions, require_one_machine, require_kept, _floor_ratios):
        check(bundle)
    first = _first(bundle)
    confirmed = {CANDIDATE, *needed(first, bundle.plan.baselines), *_others(bundle)}
    sets, stated = confirmations(first, bundle.plan), bundle.verified.confirmations
    if stated != sets:
        raise Refused("evaluation", f"it states {stated} confirmations, and the plan asks for {sets}")
    _require_places("samples", bundle, bundle.verified.timings.samples, sets, confirmed)
    require_possible(bundle)
    _statistics(bundle, first)


def _identities(bundle: Bundle) -> None:
    evaluation, files = bundle.evaluation, bundle.candidate.files
    names = [file.name for file in files]
    if not files or len(set(names)) != len(names) or not all(map(_is_plain, names)):
        raise Refused("candidate", f"its files are {shown(names)}, and plain names without folders were expected")
    for what, stated, found in (
        ("candidate", evaluation.candidate, bundle.candidate.id),
        ("problem", evaluation.problem, bundle.problem.id),
        ("plan", evaluation.plan, bundle.plan.name),
    ):
        if stated != found:
            raise Refused("evaluation", f"it is of the {what} {shown(stated)}, and the bundle holds {shown(found)}")


def _is_plain(name: str) -> bool:
    return 0 < len(name) <= 200 and name.isprintable() and not {"/", "\\"} & set(name) and name not in (".", "..")


def _problem(bundle: Bundle) -> None:
    workloads = bundle.problem.workloads
    if not bundle.problem.timed or len({w.name for w in workloads}) != len(workloads):
        raise Refused("problem", "it has no workload that is timed, or two of one name")
    for workload in workloads:
        if not LEAST_WEIGHT <= workload.weight <= MOST_WEIGHT:
            raise Refused("problem", f"workload {shown(workload.name)} has the weight {workload.weight!r}")


def _plan(bundle: Bundle) -> None:
    plan, timings = bundle.plan, bundle.verified.timings
    if (
        min(plan.process_sets, plan.short_sets or plan.process_sets) < LEAST_SETS
        or plan.blocks < LEAST_BLOCKS
        or plan.max_blocks < plan.blocks
    ):
        raise Refused("plan", f"at least {LEAST_SETS} process sets of {LEAST_BLOCKS} blocks make `verified`")
    if max(plan.process_sets, plan.short_sets, plan.max_blocks, plan.threads) > MOST_PLACES or plan.threads < 1:
        raise Refused("plan", f"it asks for more than {MOST_PLACES} process sets, blocks or threads, or for none")
    if plan.baselines != tuple(dict.fromkeys(plan.baselines)) or {CANDIDATE, CHAMPION} & set(plan.baselines):
        raise Refused("plan", f"its baselines are {shown(plan.baselines)}")
    if timings.threads != plan.threads:
        raise Refused("evaluation", f"it states {timings.threads} threads, and the plan has {plan.threads}")
    warm = any("llc-warm" in note for note in bundle.evaluation.notes)
    if timings.cache not in ("cold", "llc-warm") or (timings.cache == "cold") == warm:
        raise Refused("evaluation", f"the cache was {shown(timings.cache)}, and the notes say another thing")
    if timings.cache == "cold" and not plan.cold:
        raise Refused("evaluation", "the cache was cold, and the plan does not empty it")


def _limits(bundle: Bundle) -> None:
    for name, limit in asdict(bundle.plan.limits).items():
        if not 0 < limit < MOST_LIMIT:
            raise Refused("plan", f"its limit {name} is {shown(limit)}, and a positive number was expected")


def _conditions(bundle: Bundle) -> None:
    evaluation = bundle.evaluation
    if not VERSION.fullmatch(evaluation.judge_version):
        raise Refused("evaluation", f"it is by version {shown(evaluation.judge_version)} of the judge, which is none")
    if int(evaluation.judge_version) > int(JUDGE_VERSION):
        raise Refused(
            "evaluation",
            f"it is by version {shown(evaluation.judge_version)} of the judge, and this Kernwright has "
            f"{JUDGE_VERSION}; use a newer one",
        )
    if evaluation.isolation not in LEVELS:
        raise Refused("evaluation", f"the isolation was {shown(evaluation.isolation)}; known are {', '.join(LEVELS)}")
    if len(evaluation.seeds) != 1 or not 0 <= evaluation.seeds[0] < MOST_SEED:
        raise Refused("evaluation", f"its seeds are {shown(evaluation.seeds)}, and one of 64 bits was expected")
    if not evaluation.machine or evaluation.target.count(":") != 1:
        raise Refused("evaluation", f"it is of the target {shown(evaluation.target)} on {shown(evaluation.machine)}")
    if any(seconds < 0 for seconds in evaluation.stage_s.values()):
        raise Refused("evaluation", "a stage took less than no time")
    if evaluation.profile is not None:
        raise Refused("evaluation", "it holds a profile, and whatever profiles judges nothing")


def _first(bundle: Bundle) -> Timings:
    """The first measurement, summarised anew."""
    samples = bundle.verified.first_samples
    present = {sample.participant for sample in samples}
    racers = {CANDIDATE, *(name for name in bundle.plan.baselines if name in present), *_others(bundle)}
    if not racers & set(bundle.plan.baselines):
        raise Refused("first_samples", "there is no baseline among them")
    _require_places("first_samples", bundle, samples, 1, racers)
    return summarise(samples, _facts(bundle))


def _others(bundle: Bundle) -> set[str]:
    return {CHAMPION} if bundle.evaluation.champion else set()


def _require_places(part: str, bundle: Bundle, samples: Sequence[Samples], sets: int, racers: Set[str]) -> None:
    timed = [workload.name for workload in bundle.problem.timed]
    if sets * len(racers) * len(timed) > MOST_PLACES:
        raise Refused(part, f"the problem and the plan ask for more than {MOST_PLACES} lists of times")
    expected = {(number, name, racer) for number in range(sets) for name in timed for racer in racers}
    found = [(s.process_set, s.workload, s.participant) for s in samples]
    if wrong := sorted(set(found) ^ expected, key=str):
        fault = "is missing" if wrong[0] in expected else "was not to be expected"
        raise Refused(part, f"{_place(*wrong[0])} {fault}")
    if len(found) != len(expected):
        raise Refused(part, "a participant stands twice in a process set")
    calls = len(samples[0].call_ns)
    for sample in samples:
        where = _place(sample.process_set, sample.workload, sample.participant)
        counts = len(sample.device_ns), len(sample.judge_ns), len(sample.call_ns)
        if counts != (ABBA * bundle.plan.blocks, ABBA * bundle.plan.blocks, calls):
            raise Refused(part, f"{where} has {counts} times of its three kinds, which is not what the plan asks for")
        if not ABBA <= calls <= counts[0] or calls % ABBA:
            raise Refused(part, f"{where} has {calls} times from idle to complete")
        if not all(LEAST_NS <= t <= MOST_NS for t in (*sample.device_ns, *sample.call_ns, *sample.judge_ns)):
            raise Refused(part, f"{where} has a time out of range")
        if any(call < device for call, device in zip(sample.call_ns, sample.device_ns, strict=False)):
            raise Refused(part, f"{where} has a call that took longer on the device than in all")


def _place(number: int, workload: str, participant: str) -> str:
    return f"{shown(participant)} on {shown(workload)} in process set {number}"


def _floor_ratios(bundle: Bundle) -> None:
    ratios, floor = bundle.verified.timings.aa_log_ratios, bundle.verified.timings.aa_floor
    if ratios.keys() != {workload.name for workload in bundle.problem.timed}:
        raise Refused("evaluation", "the A/A floor was not measured for just the workloads that were timed")
    for name, values in ratios.items():
        if len(values) < LEAST_PAIRS or any(abs(value) > MOST_LOG_RATIO for value in values):
            raise Refused("evaluation", f"the A/A floor of {shown(name)} rests on {len(values)} pairs, or absurd ones")
    if floor > MOST_FLOOR:
        raise Refused("evaluation", f"its A/A floor is {floor:.3g}, and {MOST_FLOOR:g} at most was expected")


def _facts(bundle: Bundle) -> Facts:
    timings, timed = bundle.verified.timings, bundle.problem.timed
    copies = {each.workload: each.copy_ns for each in timings.workloads}
    floors = {each.workload: each.floor_ns for each in timings.workloads}
    if [each.workload for each in timings.workloads] != [each.name for each in timed]:
        raise Refused("evaluation", "it states times for other workloads than the problem has")
    if any(ns is not None and not 0 <= ns <= MOST_NS for ns in (*copies.values(), *floors.values())):
        raise Refused("evaluation", "a copy took, or the floor is, a time out of range")
    return Facts(
        workloads=timed,
        plan=bundle.plan,
        copy_ns=tuple(copies[workload.name] for workload in timed),
        floor_ns=tuple(floors[workload.name] for workload in timed),
        aa_log_ratios=timings.aa_log_ratios,
        cache=timings.cache,
    )


def _statistics(bundle: Bundle, first: Timings) -> None:
    outcome = bundle.verified
    timings = with_left_out(summarise(outcome.timings.samples, _facts(bundle)), first)
    difference = _difference(_plain(outcome.timings), _plain(timings), "timings")
    if difference is not None:
        where, stated, found = difference
        raise Refused(
            "evaluation", f"{where} is stated as {shown(stated)}, and {shown(found)} follows from the samples"
        )
    if outcome.reason != (reason := sentence(timings)):
        raise Refused("evaluation", f"its reason is {shown(outcome.reason)}, and {shown(reason)} follows")


def _plain(timings: Timings) -> Any:
    return json.loads(encode(timings))


def _difference(stated: Any, found: Any, where: str) -> tuple[str, Any, Any] | None:
    pairs: Iterable[tuple[str, Any, Any]]
    match stated, found:
        case dict(), dict() if stated.keys() == found.keys():
            pairs = ((f"{where}.{key}", stated[key], found[key]) for key in stated)
        case list(), list() if len(stated) == len(found):
            pairs = ((f"{where}[{i}]", a, b) for i, (a, b) in enumerate(zip(stated, found, strict=True)))
        case float(), float():
            return None if math.isclose(stated, found, rel_tol=ROUNDING) else (where, stated, found)
        case _:
            same = type(stated) is type(found) and stated == found
            return None if same else (where, stated, found)
    return next((d for d in (_difference(a, b, place) for place, a, b in pairs) if d is not None), None)
