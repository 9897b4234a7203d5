"""How much evidence an evaluation gathers, and the limits that it runs under."""

from dataclasses import dataclass, field
from typing import Literal

from .digest import ADDED

PATIENCE = 4
"""So many times as long as a candidate's may a baseline's first call take: `torch.compile` of KernelBench's DenseNet201
took more than 80 s on one core."""

SHORT_NS = 50_000
"""Of device time; between processes shorter calls differ most, as a share of theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Deadlines per stage and memory; a candidate past one of them is killed."""

    build_s: float = 120.0
    load_s: float = 60.0
    call_s: float = 20.0
    """One call, first calls (lazy compilation) aside, which have `load_s` too."""
    reference_s: float = 60.0
    """One call of the problem's own code in the judge's process."""
    memory_bytes: int = 4 << 30
    """Resident memory of one runner above what it had when forked, inputs and outputs not counted; more where it has a
    device, and most of all for a baseline."""
    processes: int = 64
    """Processes and threads that one runner may have at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Samples, processes, baselines and cache state of one evaluation."""

    name: str
    blocks: int
    """ABBA blocks per workload in a process set; at least 8."""
    max_blocks: int
    """Where to stop when the interval is still wider than `half_width`."""
    half_width: float
    """Aim for the 95 % interval of the log ratio."""
    process_sets: int
    """Fresh process sets that confirm a measured candidate; 0 ends in `measured`."""
    compare: Literal["half", "all"]
    """Which timed calls have their outputs compared afterwards."""
    cold: bool
    """Whether the last-level cache is emptied before each sample."""
    baselines: tuple[str, ...] = ("eager", "compile")
    threads: int = 1
    limits: Limits = Limits()
    sanitize: bool = True
    """Whether tools that watch memory look at a candidate before fresh process sets confirm it."""
    short_sets: int = field(default=0, metadata=ADDED)
    """Fresh process sets where a call of the candidate takes less than 50 µs; 0: as many as for any other."""

    def confirmations(self, shortest_ns: float) -> int:
        """Fresh process sets for a candidate whose shortest workload takes so long, in nanoseconds of device time."""
        return self.short_sets or self.process_sets if shortest_ns < SHORT_NS else self.process_sets


QUICK = Plan(name="quick", blocks=8, max_blocks=16, half_width=0.02, process_sets=0, compare="half", cold=False)
FULL = Plan(
    name="full", blocks=8, max_blocks=24, half_width=0.01, process_sets=5, short_sets=9, compare="all", cold=True
)
PLANS = {plan.name: plan for plan in (QUICK, FULL)}
