"""How a candidate uses the device, as far as profilers could say."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelProfile:
    """One compiled or launched function."""

    name: str
    counters: dict[str, float] = field(default_factory=dict)
    """By the names of `counters.COUNTERS`."""
    opcodes: dict[str, float] = field(default_factory=dict)
    """How many instructions of each kind its code has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What was seen of one candidate. Figures come from a process that the candidate shared: hints, never a verdict."""

    tools: tuple[str, ...] = ()
    """Which of them said something."""
    missing: tuple[str, ...] = ()
    """Which said nothing, and why: a sentence each."""
    workload: str = ""
    """Of the call that was watched; empty where none was."""
    counters: dict[str, float] = field(default_factory=dict)
    """Of the whole call, or the largest over its kernels."""
    kernels: tuple[KernelProfile, ...] = ()
    opcodes: dict[str, float] = field(default_factory=dict)
    """Sums over kernels."""
    notes: tuple[str, ...] = ()
    """What a compiler says of the source, such as loops that it left as they are."""
    seconds: float = 0.0
    """What looking took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One figure of a child against its parent's."""

    name: str
    before: float
    after: float

    @property
    def relative(self) -> float | None:
        """-0.3 for thirty per cent less; None where there was nothing before."""
        return None if self.before == 0 else self.after / self.before - 1.0


def joined(parts: Iterable[Profile]) -> Profile:
    """One profile of what several tools saw; where two counted the same, the later one holds."""
    tools: list[str] = []
    missing: list[str] = []
    notes: list[str] = []
    counters: dict[str, float] = {}
    opcodes: dict[str, float] = {}
    kernels: dict[str, KernelProfile] = {}
    workload, seconds = "", 0.0
    for part in parts:
        tools += part.tools
        missing += part.missing
        notes += part.notes
        counters |= part.counters
        opcodes |= part.opcodes
        workload, seconds = part.workload or workload, seconds + part.seconds
        for kernel in part.kernels:
            old = kernels.get(kernel.name, kernel)
            kernels[kernel.name] = KernelProfile(
                name=kernel.name,
                counters=old.counters | kernel.counters,
                opcodes=old.opcodes | kernel.opcodes,
            )
    return Profile(
        tools=tuple(dict.fromkeys(tools)),
        missing=tuple(dict.fromkeys(missing)),
        workload=workload,
        counters=counters,
        kernels=tuple(kernels.values()),
        opcodes=opcodes,
        notes=tuple(dict.fromkeys(notes)),
        seconds=seconds,
    )


def changes(before: Mapping[str, float], after: Mapping[str, float], least: float = 0.02) -> tuple[Change, ...]:
    """Figures that both have and that differ by more than this share, the largest difference first."""
    found = [
        Change(name=name, before=before[name], after=value)
        for name, value in after.items()
        if name in before and abs(value - before[name]) > least * max(abs(before[name]), abs(value))
    ]
    return tuple(sorted(found, key=lambda change: -_size(change)))


def _size(change: Change) -> float:
    return abs(change.after - change.before) / max(abs(change.before), abs(change.after))
