"""The CPU: what it is, a lease on it, shared memory, and how to empty its last-level cache."""

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Literal

from kernwright.core.errors import UserError
from kernwright.core.lease import Kept, held
from kernwright.core.ports import DeviceSession

from .absent import Absent
from .shared_buffer import SharedBuffer
from .versions import installed

if TYPE_CHECKING:
    import torch

_LEVELS = (
    ("x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
    ("x86-64-v3", {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}),
    ("x86-64-v2", {"cx16", "popcnt", "sse4_1", "sse4_2", "ssse3"}),
)
"""x86-64 levels of the System V ABI, by the flags that Linux shows."""
FLUSHABLE_BYTES = 160 << 20
"""A larger last-level cache is not emptied: touching 480 MiB takes 50 ms a sample."""


class Cpu:
    """The machine's own processor."""

    name = "cpu"

    def targets(self) -> Sequence[str]:
        return [f"cpu:{_level()}"]

    def obstacle(self) -> str:
        return ""

    def known(self) -> Sequence[str]:
        return list(dict.fromkeys([*self.targets(), *(f"cpu:{name}" for name, _ in _LEVELS)]))

    def open(self, target: str) -> DeviceSession:
        if target in self.targets():
            return CpuSession()
        if target in self.known():
            return Absent(modules=())
        raise UserError(f"The target {target!r} is not known; CPU targets are: {', '.join(self.known())}.")


class CpuSession:
    """The CPU as one device: one machine-wide lease, the last cores for runners, the rest for the judge."""

    runtime = "kernwright.platforms.cpu_runtime:CpuRuntime"
    device = runner_device = "cpu"
    present = True
    clocks: Sequence[Literal["device", "call"]] = ("call",)
    memory_bytes: int | None = None
    bursts = False
    flush_ns = 0.0
    apart_bytes = 0
    modules: Sequence[str] = ()
    devices: Sequence[Path] = ()

    def __init__(self) -> None:
        self._flusher: torch.Tensor | None = None
        self._cores = sorted(os.sched_getaffinity(0))

    def environment(self) -> Mapping[str, str]:
        """ISA, model, cores, caches and frequency governor, as text."""
        info = _cpuinfo()
        governor = _read(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
        return {
            "isa": _level(),
            "cpu": info.get("model name", platform.processor()),
            "cores": str(len(self._cores)),
            "caches": ", ".join(f"L{level} {size >> 10} KiB" for level, size in sorted(_caches().items())),
            "governor": governor or "not visible",
            "kernel": platform.release(),
            "torch": installed("torch"),
        }

    def condition(self) -> Mapping[str, str]:
        return {}

    def variables(self, artifacts: Path, texts: Sequence[str] = ()) -> Mapping[str, str]:
        """Caches of compilers that a candidate may use, kept among the artefacts."""
        return {
            "TORCHINDUCTOR_CACHE_DIR": str(artifacts / "inductor"),
            "NUMBA_CACHE_DIR": str(artifacts / "numba"),
            # A header precompiled for one candidate costs 19 s and 150 MB, and saves 2 s.
            "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",
        }

    def machine(self) -> str:
        """Names machines on which figures can be compared."""
        return f"{_cpuinfo().get('model name', 'cpu')}/{len(self._cores)} cores/{_caches().get(3, 0) >> 20} MiB"

    def wanted(self, for_s: float = 0.0) -> bool:
        return False

    def runner_cores(self, threads: int) -> tuple[int, ...]:
        """Cores that a runner is pinned to: the last ones."""
        return tuple(self._cores[-threads:])

    def claim_judge_cores(self) -> None:
        """Keep this thread, and those it starts, off the core that one-threaded runners get."""
        import torch

        own = self._cores[:-1] or self._cores
        os.sched_setaffinity(0, own)
        torch.set_num_threads(len(own))

    def building(self) -> AbstractContextManager[Kept]:
        return self.shared()

    @contextmanager
    def shared(self) -> Iterator[Kept]:
        """What else runs here would find its values gone from the caches, so nobody gives way."""
        with held(Cpu.name, alone=False):
            yield Kept()

    def starting(self) -> AbstractContextManager[Kept]:
        return self.shared()

    @contextmanager
    def exclusive(self, *, undisturbed: bool = False) -> Iterator[None]:
        """Always undisturbed."""
        with held(Cpu.name, alone=True):
            yield

    @contextmanager
    def reserved(self, nbytes: int, timing: int = 0) -> Iterator[None]:
        """Memory is the operating system's affair."""
        yield

    def buffer(self, nbytes: int) -> SharedBuffer:
        return SharedBuffer(nbytes)

    def stock(self, sizes: Sequence[int]) -> None:
        """A new one takes no time."""

    def copy_ns(self, tensors: Sequence[Any]) -> float:
        """By the clock; the smallest of three."""
        taken = []
        for _ in range(3):
            start = perf_counter_ns()
            for tensor in tensors:
                tensor.clone()
            taken.append(perf_counter_ns() - start)
        return float(min(taken))

    def flushes(self, asked: bool) -> bool:
        """Where it is asked for and the last-level cache is small enough."""
        return asked and 0 < _last_level_bytes() <= FLUSHABLE_BYTES

    def flush(self) -> None:
        """Read and write a buffer of twice the last-level cache."""
        import torch

        if self._flusher is None:
            self._flusher = torch.zeros(2 * _last_level_bytes() // 4, dtype=torch.int32)
        self._flusher += 1

    def settle(self) -> None:
        """Calls on the CPU are synchronous."""

    def distance(self, got: Any, own: Any) -> None:
        """PyTorch's operators tell, a stretch in the caches at a time."""

    def least_ns(self, written: int, threads: int) -> float:
        """No core writes more than one 64-byte line a cycle; 6 GHz is above every clock sold."""
        return written / (64 * 6.0 * threads)

    def floor_ns(self, moving: float, written: int) -> float | None:
        return None

    def require_health(self) -> None:
        """A runner cannot harm it."""

    def free(self) -> None:
        """Freed memory is kept for the next call."""


@cache
def _cpuinfo() -> dict[str, str]:
    first = (_read(Path("/proc/cpuinfo")) or "").split("\n\n")[0]
    pairs = (line.split(":", 1) for line in first.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


@cache
def _level() -> str:
    machine = platform.machine()
    if machine != "x86_64":
        return machine
    flags = set(_cpuinfo().get("flags", "").split())
    held, best = set[str](), "x86-64-v1"
    for name, needed in reversed(_LEVELS):
        held |= needed
        if not held <= flags:
            break
        best = name
    return best


@cache
def _caches() -> dict[int, int]:
    found: dict[int, int] = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (_read(folder / name) for name in ("level", "type", "size"))
        if level and size and kind != "Instruction":
            unit = {"K": 1 << 10, "M": 1 << 20}.get(size[-1], 1)
            found[int(level)] = int(size.rstrip("KM")) * unit
    return found


def _last_level_bytes() -> int:
    caches = _caches()
    return caches[max(caches)] if caches else 0


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
