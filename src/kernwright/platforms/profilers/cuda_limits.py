"""What NVIDIA's GPUs can do at the most, by architecture, and how many blocks of a kernel fit on a multiprocessor.

Limits: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". Peaks: the datasheets of the
products that stand for an architecture, dense, in teraFLOP/s and terabytes/s.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor

WARP = 32
REGISTERS = 65536
"""Of a multiprocessor, in all of these."""
REGISTER_UNIT = 256
"""A warp's registers are given out in such portions."""
RESERVED_BYTES = 1024
"""Of shared memory, which the system takes of each block since compute capability 8.0."""
SHARED_UNIT = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """One architecture."""

    multiprocessors: int
    threads: int
    """Resident on a multiprocessor, as all that follow."""
    blocks: int
    shared_bytes: int
    dram: float
    float32: float
    tf32: float
    float16: float
    fp8: float | None = None

    def peaks(self) -> Mapping[str, float]:
        """`bytes_per_s`, and operations per second by precision. Strict float32 may be put together from TF32."""
        half = self.float16 * 1e12
        found = {
            "bytes_per_s": self.dram * 1e12,
            "float32": max(self.float32, self.tf32 / 3) * 1e12,
            "tf32": self.tf32 * 1e12,
            "float16": half,
            "bfloat16": half,
        }
        if self.fp8:
            found |= {"float8_e4m3fn": self.fp8 * 1e12, "float8_e5m2": self.fp8 * 1e12}
        return found


_H100_LIKE = {"threads": 2048, "blocks": 32, "shared_bytes": 228 << 10}
LIMITS = {
    "sm_80": Limits(
        multiprocessors=108, threads=2048, blocks=32, shared_bytes=164 << 10,
        dram=2.04, float32=19.5, tf32=156, float16=312,
    ),
    "sm_86": Limits(
        multiprocessors=72, threads=1536, blocks=16, shared_bytes=100 << 10,
        dram=0.6, float32=31.2, tf32=62.5, float16=125,
    ),
    "sm_89": Limits(
        multiprocessors=142, threads=1536, blocks=24, shared_bytes=100 << 10,
        dram=0.864, float32=91.6, tf32=183, float16=362, fp8=733,
    ),
    "sm_90": Limits(multiprocessors=132, dram=4.8, float32=67, tf32=494, float16=989, fp8=1979, **_H100_LIKE),
    "sm_100": Limits(multiprocessors=148, dram=8.0, float32=75, tf32=1100, float16=2250, fp8=4500, **_H100_LIKE),
    "sm_103": Limits(multiprocessors=148, dram=8.0, float32=76, tf32=1100, float16=2250, fp8=4500, **_H100_LIKE),
    "sm_120": Limits(
        multiprocessors=170, threads=1536, blocks=24, shared_bytes=100 << 10,
        dram=1.79, float32=104.8, tf32=104.8, float16=209.5, fp8=419,
    ),
}  # fmt: skip
"""A100, A10, L40S, H200, B200, B300 and GeForce RTX 5090 stand for theirs."""


def limits_of(target: str) -> Limits | None:
    """Of `cuda:sm_90a`; None for one unknown."""
    return LIMITS.get(target.partition(":")[2].rstrip("af"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What a block of a kernel takes."""

    threads: int
    registers: int
    """Per thread."""
    shared_bytes: int
    """Static and dynamic together, without what the system takes."""


def occupancy(limits: Limits, launch: Launch) -> dict[str, float]:
    """`occupancy_limit`, and how many blocks each resource allows."""
    warps = -(-launch.threads // WARP)
    per_warp = -(-max(launch.registers, 1) * WARP // REGISTER_UNIT) * REGISTER_UNIT
    shared = -(-(launch.shared_bytes + RESERVED_BYTES) // SHARED_UNIT) * SHARED_UNIT
    allowed = {
        "blocks_by_registers": floor(REGISTERS // per_warp / warps),
        "blocks_by_shared": limits.shared_bytes // shared,
        "blocks_by_threads": min(limits.blocks, limits.threads // WARP // warps),
    }
    resident = min(allowed.values()) * warps
    return {"occupancy_limit": resident * WARP / limits.threads, **{n: float(v) for n, v in allowed.items()}}


def waves(limits: Limits, blocks: int, resident: float, multiprocessors: int = 0) -> float:
    """How often the device is filled by so many blocks, `resident` of which fit on a multiprocessor."""
    return blocks / (max(resident, 1.0) * (multiprocessors or limits.multiprocessors))
