"""What profilers count, under one name each whatever the tool: rules, expectations and differences speak of these."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Unit = Literal["ns", "bytes", "share", "count", "ratio", "per_s"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """One kind of figure."""

    label: str
    """As people say it."""
    unit: Unit = "count"
    """`share` is of 1, and shown in per cent."""
    also: tuple[str, ...] = ()
    """Other ways to say it, in small letters."""


COUNTERS: Mapping[str, Counter] = {
    # One call, by clocks
    "time_ns": Counter(label="time", unit="ns", also=("runtime", "duration", "latency")),
    "host_ns": Counter(label="host time", unit="ns", also=("cpu time", "launch overhead", "overhead")),
    "gap_ns": Counter(label="time between kernels", unit="ns", also=("gaps", "idle time")),
    "launches": Counter(label="kernel launches", also=("launches", "kernels", "number of kernels")),
    "copy_ns": Counter(label="time of a copy of as many bytes", unit="ns"),
    # Against what the device can do
    "least_bytes": Counter(label="bytes that must move", unit="bytes"),
    "flops": Counter(label="operations of the reference"),
    "intensity": Counter(label="operations per byte", unit="ratio", also=("arithmetic intensity",)),
    "ridge": Counter(label="operations per byte at the ridge", unit="ratio"),
    "memory_roof": Counter(label="share of the memory roof", unit="share", also=("bandwidth", "achieved bandwidth")),
    "compute_roof": Counter(label="share of the compute roof", unit="share"),
    # What follows from others; see `search/diagnosis`
    "traffic_excess": Counter(label="DRAM bytes over those that must move", unit="ratio"),
    "copy_share": Counter(label="speed against a copy of as many bytes", unit="share"),
    "gap_share": Counter(label="share of the time between kernels", unit="share"),
    "host_share": Counter(label="host time over device time", unit="ratio"),
    "tail_share": Counter(label="share of the device idle in the last wave", unit="share"),
    "fresh_share": Counter(label="share of the bytes in pages that were new", unit="share"),
    "core_share": Counter(label="share of the allowed cores in use", unit="share"),
    "reach": Counter(label="operations per byte of products, over the ridge's", unit="ratio"),
    # Units of a device
    "dram_bytes": Counter(label="DRAM bytes", unit="bytes", also=("dram traffic", "memory traffic", "hbm bytes")),
    "dram_busy": Counter(label="DRAM throughput", unit="share", also=("dram", "dram busy", "memory throughput")),
    "l2_busy": Counter(label="L2 throughput", unit="share", also=("l2", "l2 busy")),
    "l2_hits": Counter(label="L2 hit rate", unit="share", also=("l2 hits",)),
    "l1_hits": Counter(label="L1 hit rate", unit="share", also=("l1 hits",)),
    "core_busy": Counter(label="SM throughput", unit="share", also=("compute throughput", "sm busy")),
    "tensor_busy": Counter(label="tensor pipe", unit="share", also=("tensor cores", "tensor throughput")),
    "occupancy": Counter(label="occupancy", unit="share", also=("achieved occupancy",)),
    "occupancy_limit": Counter(label="theoretical occupancy", unit="share"),
    "blocks_by_registers": Counter(label="blocks that registers allow"),
    "blocks_by_shared": Counter(label="blocks that shared memory allows"),
    "blocks_by_threads": Counter(label="blocks that threads allow"),
    "loads_used": Counter(label="used bytes of a loaded sector", unit="share", also=("coalescing", "load efficiency")),
    "stores_used": Counter(label="used bytes of a stored sector", unit="share", also=("store efficiency",)),
    "bank_conflicts": Counter(label="bank conflicts", also=("shared-memory bank conflicts", "conflicts")),
    "shared_wavefronts": Counter(label="shared-memory wavefronts"),
    "bank_conflict_share": Counter(label="share of conflicts in shared-memory wavefronts", unit="share"),
    "stall_memory": Counter(label="stalled on memory", unit="share", also=("memory stalls", "long scoreboard")),
    "stall_shared": Counter(label="stalled on shared memory", unit="share", also=("short scoreboard",)),
    "stall_queue": Counter(label="stalled on a full memory queue", unit="share"),
    "stall_sync": Counter(label="stalled at barriers", unit="share", also=("barrier stalls", "sync stalls")),
    "stall_math": Counter(label="stalled on busy arithmetic units", unit="share"),
    "stall_wait": Counter(label="stalled on the instruction before", unit="share"),
    "stall_fetch": Counter(label="stalled on instructions to come", unit="share"),
    # What was launched, and what the compiler made
    "threads": Counter(label="threads per block", also=("block size",)),
    "blocks": Counter(label="blocks", also=("grid size", "programs")),
    "waves": Counter(label="waves of blocks", unit="ratio"),
    "registers": Counter(label="registers", also=("registers per thread", "register count")),
    "shared_bytes": Counter(label="shared memory", unit="bytes", also=("shared bytes", "smem")),
    "spill_bytes": Counter(label="spilled bytes", unit="bytes", also=("spills", "spill bytes", "local memory")),
    "wide_share": Counter(label="wide among global accesses", unit="share", also=("wide loads", "vectorised loads")),
    "local_accesses": Counter(label="local-memory accesses", also=("spill instructions",)),
    "tensor_instructions": Counter(label="tensor-core instructions"),
    "code_instructions": Counter(label="instructions in the code", also=("code size",)),
    # A processor
    "instructions": Counter(label="instructions", also=("instructions executed",)),
    "cycles": Counter(label="cycles"),
    "ipc": Counter(label="instructions per cycle", unit="ratio"),
    "cache_misses": Counter(label="cache misses", also=("llc misses", "last-level cache misses")),
    "miss_bytes_per_s": Counter(label="bytes missed per second", unit="per_s"),
    "branch_misses": Counter(label="branch misses", also=("mispredictions", "branch mispredictions")),
    "page_faults": Counter(label="page faults", also=("faults",)),
    "switches": Counter(label="context switches"),
    "cores_used": Counter(label="cores in use", unit="ratio"),
    "threads_allowed": Counter(label="threads that the plan allows"),
    "vector_share": Counter(label="vector among arithmetic instructions", unit="share", also=("vectorisation",)),
    "vector_bits": Counter(label="bits of the widest vectors in use"),
    "vector_bits_possible": Counter(label="bits of the widest vectors there are"),
    "gathers": Counter(label="gathers and scatters"),
    "divisions": Counter(label="divisions and roots"),
    "calls": Counter(label="calls in the code"),
    "loops_vectorised": Counter(label="loops that the compiler vectorised"),
    "loops_by_hand": Counter(label="loops that were written with vectors"),
    "loops_missed": Counter(label="loops that the compiler left scalar", also=("scalar loops",)),
}
"""By name."""


def shown(name: str, value: float) -> str:
    """A figure as people read it: `71 %`, `1.50 MB`, `12.3 us`."""
    unit = COUNTERS[name].unit if name in COUNTERS else "count"
    match unit:
        case "share":
            return f"{value:.1%}"
        case "ns":
            return _scaled(value, (("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)))
        case "bytes":
            return _scaled(value, (("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)))
        case "per_s":
            return _scaled(value, (("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9))) if value else "0 B/s"
        case "ratio":
            return f"{value:.2f}"
    return f"{value:.0f}" if value < 1e6 else f"{value:.3g}"


def _scaled(value: float, units: tuple[tuple[str, float], ...]) -> str:
    name, size = next(((n, s) for n, s in reversed(units) if abs(value) >= s), units[0])
    return f"{value / size:.0f} {name}" if size == 1.0 else f"{value / size:.3g} {name}"


def named(text: str) -> str | None:
    """The name of the counter that people call so; None where none is."""
    said = " ".join(text.replace("_", " ").lower().split())
    for name, counter in COUNTERS.items():
        if said in (name, name.replace("_", " "), counter.label.lower(), *counter.also):
            return name
    return None
