"""Whether the times that a bundle states can have been taken: what clocks, the floor and chance allow."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from kernwright.core.outcome import Samples
from kernwright.evaluation.timing.disbelief import disbelieved
from kernwright.evaluation.timing.statistics import ABBA
from kernwright.evaluation.timing.summary import CANDIDATE

from .facts import Bundle, Refused, shown
from .machines import is_processor

AHEAD = 1.01
"""Two clocks may run so differently; beyond this a call was longer than the message that it is part of."""
BELOW_FLOOR = 0.5
"""Less than this share of what no kernel can beat was not measured: the floor is an estimate, but no such poor one."""
SAME = 1e-9
"""Of a call's time: as much does arithmetic leave of a difference that is none."""

Race = dict[str, Samples]
"""Samples of one workload in one process set, by participant."""


def require_possible(bundle: Bundle) -> None:
    """For a bundle whose samples are there, all of them.

    Raises:
        Refused: no judgement can have given these times.
    """
    outcome = bundle.verified
    _baselines(bundle)
    for part, samples in (("first_samples", outcome.first_samples), ("samples", outcome.timings.samples)):
        for (number, workload), race in _races(samples).items():
            where = f"on {shown(workload)} in process set {number}"
            _clocks(part, where, race, bundle.plan.baselines)
            if is_processor(bundle.evaluation.target):
                for sample in race.values():
                    _synchronous(part, where, sample, trusted=sample.participant in bundle.plan.baselines)
    _repeated((*outcome.first_samples, *outcome.timings.samples))
    _floors(bundle)


def _baselines(bundle: Bundle) -> None:
    """Each was in the first measurement, which decides whether it is timed again, or failed."""
    present = {sample.participant for sample in bundle.verified.first_samples}
    failed = bundle.evaluation.failed_baselines
    for name in bundle.plan.baselines:
        if name not in present and not failed.get(name):
            raise Refused(
                "first_samples", f"the baseline {shown(name)} of the plan has no times, and nothing says that it failed"
            )


def _races(samples: Sequence[Samples]) -> dict[tuple[int, str], Race]:
    races: dict[tuple[int, str], Race] = {}
    for sample in samples:
        races.setdefault((sample.process_set, sample.workload), {})[sample.participant] = sample
    return races


def _clocks(part: str, where: str, race: Race, baselines: Sequence[str]) -> None:
    """What a judge's clock says of a runner's.

    Baselines alone never count more than their messages took: whatever else is doubtful about a participant is added to
    its times, which may then be longer, to its harm.
    """
    trusted = [race[name] for name in baselines if name in race]
    for sample in trusted:
        pairs = zip(sample.device_ns, sample.judge_ns, strict=True)
        if any(device > AHEAD * judge for device, judge in pairs):
            raise Refused(
                part, f"{shown(sample.participant)} {where} has a call that took longer than the judge saw its message"
            )
    candidate = race[CANDIDATE]
    # Which of them the judge compared it with is not said; whoever was believed passes beside that one.
    doubts = [disbelieved(candidate.device_ns, candidate.judge_ns, _usual_ns(sample)) for sample in trusted]
    if all(doubts):
        raise Refused(part, f"the candidate {where} cannot be believed: {doubts[0]}")


def _synchronous(part: str, where: str, sample: Samples, *, trusted: bool) -> None:
    """A processor's call is over when it returns, so both clocks show one time.

    Whoever is charged may have more added to one than to the other: the same to every sample of a list, or to each on
    some values and, longer by one factor, to each on the others; values are of a block.
    """
    who = f"{shown(sample.participant)} {where}"
    if len(sample.call_ns) != len(sample.device_ns):
        raise Refused(
            part,
            f"{who} has {len(sample.call_ns)} times from idle to complete, and {len(sample.device_ns)} were expected: "
            "on a processor every call has both",
        )
    more = [call - device for call, device in zip(sample.call_ns, sample.device_ns, strict=True)]
    least = SAME * max(sample.call_ns)
    uneven = any(abs(a - b) > least for a, b in zip(more[::ABBA], more[1::ABBA], strict=True))
    steps = sum(b - a > least for a, b in pairwise(sorted(more)))
    if any(more) if trusted else uneven or steps > 1:
        raise Refused(
            part,
            f"{who} has a call that took {shown(max(more))} ns more from idle to complete than on the device, and no "
            "difference of its own was expected: on a processor the two are one",
        )


def _usual_ns(trusted: Samples) -> float:
    return median(judge - device for device, judge in zip(trusted.device_ns, trusted.judge_ns, strict=True))


def _repeated(samples: Sequence[Samples]) -> None:
    """Nanoseconds of whole messages, a dozen and more, are never the same twice."""
    known: dict[tuple[float, ...], Samples] = {}
    for sample in samples:
        other = known.setdefault(sample.judge_ns, sample)
        if other is not sample:
            raise Refused(
                "samples",
                f"{shown(sample.participant)} on {shown(sample.workload)} in process set {sample.process_set} has the "
                "very times of another list, so one is a copy",
            )


def _floors(bundle: Bundle) -> None:
    timings = bundle.verified.timings
    if timings.cache != "cold":  # what lies in a cache may be read faster than from memory
        return
    for each in timings.workloads:
        for name, ns in each.time_ns.items():
            if each.floor_ns is not None and ns < BELOW_FLOOR * each.floor_ns:
                raise Refused(
                    "evaluation",
                    f"{shown(name)} takes {ns / 1e3:.2f} µs on {shown(each.workload)}, and it states that no kernel "
                    f"takes less than {each.floor_ns / 1e3:.2f} µs",
                )
