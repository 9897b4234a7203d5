"""What there is to say of a problem before anyone works on it."""

from dataclasses import dataclass, field

from .outcome import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something about a problem that its author should know."""

    name: str
    sentence: str
    workload: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadReport:
    """One workload: its size, its baselines, and how far they are from a plain copy."""

    workload: str
    weight: float
    held_out: bool
    input_bytes: int
    weight_bytes: int
    output_bytes: int
    eager_ns: float | None = None
    """None where it is held out, and so not timed."""
    compile_ns: float | None = None
    """None too where torch.compile does not work."""
    compile_speedup: Interval | None = None
    """torch.compile against eager."""
    copy_ns: float | None = None
    """Time to copy as many bytes as inputs, weights and outputs hold."""
    floor_ns: float | None = None
    """No kernel can read what moves the outputs and write them in less; as far as is known here."""

    @property
    def headroom(self) -> float | None:
        """The faster baseline's time over that of a plain copy."""
        times = [ns for ns in (self.eager_ns, self.compile_ns) if ns is not None]
        return min(times) / self.copy_ns if times and self.copy_ns else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemReport:
    """Whether a problem can be judged, whether its answer means anything, and what there is to win."""

    problem: str
    name: str
    target: str
    machine: str
    threads: int
    cache: str
    isolation: str
    workloads: tuple[WorkloadReport, ...]
    findings: tuple[Finding, ...]
    """Ways in which the problem is degenerate; none is good."""
    to_win: str
    """A sentence on how much faster than the baselines a kernel could be."""
    notes: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    stage_s: dict[str, float] = field(default_factory=dict)
