"""A profile in a few lines, for whoever writes the next candidate."""

from collections.abc import Iterator, Mapping, Sequence

from kernwright.core.counters import COUNTERS, shown
from kernwright.core.profile import Change, KernelProfile, Profile

MOST_KERNELS, MOST_KINDS, MOST_NOTES, MOST_CHANGES = 4, 8, 4, 6
TOLD = (
    *("dram_busy", "dram_bytes", "least_bytes", "l2_busy", "l2_hits", "core_busy", "tensor_busy", "memory_roof"),
    *("compute_roof", "intensity", "ridge", "occupancy", "occupancy_limit", "registers", "spill_bytes"),
    *("shared_bytes", "threads", "blocks", "waves", "loads_used", "stores_used", "bank_conflict_share"),
    *("stall_memory", "stall_shared", "stall_queue", "stall_sync", "stall_math", "launches", "gap_ns", "host_ns"),
    *("wide_share", "tensor_instructions", "ipc", "miss_bytes_per_s", "branch_misses", "page_faults", "cores_used"),
    *("vector_share", "vector_bits", "gathers", "divisions", "loops_vectorised", "loops_by_hand"),
    "loops_missed",
)
"""In this order; what was not counted is left out, and so is what is nothing."""
_EVEN_NONE = frozenset({"spill_bytes", "tensor_instructions", "vector_share", "wide_share"})


def lines_of(profile: Profile) -> Iterator[str]:
    """Counters, kernels, kinds of instructions, what the compiler says."""
    if told := counters_of(profile.counters):
        yield told
    for kernel in profile.kernels[:MOST_KERNELS] if len(profile.kernels) > 1 else ():
        if said := _kernel(kernel):
            yield said
    if profile.opcodes:
        largest = sorted(profile.opcodes.items(), key=lambda item: -item[1])[:MOST_KINDS]
        yield "instructions in the code: " + ", ".join(f"{kind} {count:g}" for kind, count in largest)
    for note in profile.notes[:MOST_NOTES]:
        yield f"the compiler says of {note}"


def counters_of(counters: Mapping[str, float]) -> str:
    """`DRAM throughput 71.0%, registers 168, ...`."""
    return ", ".join(f"{COUNTERS[name].label} {shown(name, counters[name])}" for name in told_of(counters))


def told_of(counters: Mapping[str, float]) -> list[str]:
    """Names of the figures that are told."""
    return [name for name in TOLD if name in counters and (counters[name] or name in _EVEN_NONE)]


def expecting_of(counted: Sequence[str]) -> str:
    """What a writer's expectations may speak of, in a sentence."""
    labels = ", ".join(COUNTERS[name].label for name in counted)
    also = f"; of one workload also: {labels}" if labels else "; no other figure was counted of the parent"
    return f"Counted here are the times, on `all` workloads (which `time` alone means) or on one by its name{also}."


def changes_of(changes: Sequence[Change]) -> str:
    """`DRAM bytes 3 MB -> 2 MB, ...`: of what whoever writes can change, the largest differences."""
    told = [each for each in changes if each.name in TOLD or each.name == "time_ns"][:MOST_CHANGES]
    return ", ".join(f"{COUNTERS[c.name].label} {shown(c.name, c.before)} -> {shown(c.name, c.after)}" for c in told)


def _kernel(kernel: KernelProfile) -> str:
    time_ns, launches = kernel.counters.get("time_ns"), kernel.counters.get("launches", 1.0)
    if time_ns is None:
        return ""
    times = f" in {launches:.0f} launches" if launches != 1 else ""
    return f"`{kernel.name.replace('`', '')}`: {shown('time_ns', time_ns)}{times}"
