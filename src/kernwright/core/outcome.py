"""What happened to a candidate: one class per ending, discriminated by `kind`."""

import math
from dataclasses import dataclass, field
from typing import Literal

from .profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one check found. `evidence` holds numbers only."""

    name: str
    passed: bool
    detail: str = ""
    evidence: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A ratio of times (above 1: the candidate is faster) with its 95 % t-interval on log ratios."""

    estimate: float
    low: float
    high: float
    n: int
    """Blocks, or process sets, behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Raw times of one participant on one workload in one process set, in the order taken.

    Entries 2b and 2b+1 are the two samples of ABBA block b.
    """

    participant: str
    workload: str
    process_set: int
    device_ns: tuple[float, ...]
    """Inside the runner, around the call alone; of a baseline that left the race early fewer than of others."""
    call_ns: tuple[float, ...]
    """From idle to complete; of the first blocks alone where the device has a clock of its own."""
    judge_ns: tuple[float, ...]
    """The judge's own clock around the whole message: it bounds the other two from outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadTiming:
    """One workload's times in nanoseconds (medians) and the speedup on it."""

    workload: str
    weight: float
    time_ns: dict[str, float]
    """Participant -> median device time."""
    baseline: str
    """The faster of the baselines here."""
    speedup: Interval
    copy_ns: float | None
    """Time to copy as many bytes as the inputs and outputs hold, on one thread of this machine."""
    floor_ns: float | None = None
    """Bytes whose change moves the output, and what is written beyond the last cache, at the datasheet's peak; None
    where there is no such sheet."""

    @property
    def of_floor(self) -> float | None:
        """The floor's share in the candidate's time: 1 is as fast as memory allows. A plain copy where no floor is."""
        least, candidate = self.floor_ns or self.copy_ns, self.time_ns.get("candidate")
        return least / candidate if least and candidate else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Speedups over all timed workloads (weighted geometric mean) with the raw samples behind them."""

    workloads: tuple[WorkloadTiming, ...]
    speedup: Interval
    """Device time against the faster baseline of each workload."""
    speedup_call: Interval
    speedup_eager: Interval | None
    speedup_compile: Interval | None
    speedup_champion: Interval | None
    baseline: str
    """`eager`, `compile`, or `mixed` where workloads differ."""
    faster: bool
    """Lower bound above the machine's A/A floor at this size, and above what the baseline drifted."""
    aa_floor: float
    """Relative difference that equal kernels show on this machine at this size, 97.5 % of the time."""
    cache: str
    """`cold`, or `llc-warm` where the last-level cache may hold the inputs."""
    threads: int
    samples: tuple[Samples, ...]
    aa_log_ratios: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """Behind the floor: per workload the log ratios of fresh pairs of equal processes at this size of call."""
    drift: float = 0.0
    """How much the baseline's own times changed from a race's first block to its last, as a ratio less one; of all
    workloads the largest, 0 where chance may show as much."""
    left_out: dict[str, Interval] = field(default_factory=dict)
    """Against baselines that were so slow in the first measurement that no fresh process sets timed them: as it was
    then, by name."""

    @property
    def of_floor(self) -> float | None:
        """Over all workloads, the weighted geometric mean."""
        known = [(math.log(share), w.weight) for w in self.workloads if (share := w.of_floor)]
        return math.exp(sum(log * weight for log, weight in known) / sum(w for _, w in known)) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """Refused before anything ran."""

    reason: str
    kind: Literal["rejected"] = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFailed:
    """The compiler, or the import of the file, failed."""

    log: str
    reason: str
    kind: Literal["build_failed"] = "build_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashed:
    """The runner died, raised, or spoke out of turn."""

    stage: str
    log: str
    reason: str
    kind: Literal["crashed"] = "crashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOut:
    """A deadline passed and every process of the runner was killed."""

    stage: str
    limit_s: float
    reason: str
    kind: Literal["timed_out"] = "timed_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """An output, or a side effect, is not the reference's."""

    reason: str
    kind: Literal["wrong"] = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicious:
    """Right as far as seen, but the times cannot be believed."""

    reason: str
    timings: Timings | None
    kind: Literal["suspicious"] = "suspicious"


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The end of a build-only job."""

    reason: str = "built; not run"
    kind: Literal["built"] = "built"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Correct where it cannot be timed; `where` says what ran it."""

    where: str
    reason: str
    kind: Literal["checked"] = "checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Correct on the calls that were timed, in one process set."""

    timings: Timings
    reason: str
    kind: Literal["measured"] = "measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """Correct, and timed again in fresh process sets; `timings` are of those alone."""

    timings: Timings
    reason: str
    confirmations: int
    first_samples: tuple[Samples, ...] = ()
    """Of the first measurement, which chose the baselines for the fresh process sets."""
    kind: Literal["verified"] = "verified"


Outcome = Rejected | BuildFailed | Crashed | TimedOut | Wrong | Suspicious | Built | Checked | Measured | Verified


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What happened to one candidate on one machine."""

    candidate: str
    problem: str
    plan: str
    target: str
    machine: str
    judge_version: str
    outcome: Outcome
    checks: tuple[CheckResult, ...] = ()
    """Every check that ran, in order."""
    isolation: str = ""
    """The level that held: `namespaces`, `landlock` or `rlimits`."""
    notes: tuple[str, ...] = ()
    """What a reader must know beside the figures: cache state, fallback of a baseline, held-out shapes."""
    environment: dict[str, str] = field(default_factory=dict)
    resources: dict[str, float] = field(default_factory=dict)
    """What the build says of the kernel (bytes of code, registers, ...)."""
    stage_s: dict[str, float] = field(default_factory=dict)
    """Wall seconds per stage."""
    seeds: tuple[int, ...] = ()
    """The secret seeds, revealed now that the evaluation is over."""
    champion: str = ""
    """Id of the candidate that was timed beside this one, where one was."""
    failed_baselines: dict[str, str] = field(default_factory=dict)
    """Baselines that do not work here, with the reason: now, or as the job said that they failed before."""
    profile: Profile | None = None
    """Of a job that was to profile; such an evaluation judges nothing."""

    @property
    def device(self) -> str:
        """The model of what was timed; empty where the platform does not say."""
        return self.environment.get("gpu") or self.environment.get("cpu", "")


def timings_of(outcome: Outcome) -> Timings | None:
    """The timings of a measured or verified outcome; None for every other ending."""
    match outcome:
        case Measured(timings=timings) | Verified(timings=timings):
            return timings
        case _:
            return None
