"""The stand-in for a device that is not here: candidates are built for it, and may be emulated on the processor."""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Literal

from kernwright.core.lease import Kept

from .compiler_caches import compiler_caches
from .shared_buffer import SharedBuffer
from .versions import installed

NO_DEVICE = "no device"
"""What the machine's name begins with: figures from there are of no device that anybody has."""


class Absent:
    """Nothing can be timed on it; tensors lie in the host's memory."""

    runtime = "kernwright.platforms.cpu_runtime:CpuRuntime"
    device = runner_device = "cpu"
    present = False
    clocks: Sequence[Literal["device", "call"]] = ("call",)
    memory_bytes: int | None = None
    bursts = False
    flush_ns = 0.0
    apart_bytes = 0
    devices: Sequence[Path] = ()

    def __init__(self, modules: Sequence[str] = ("kernwright.languages.triton_warm:warm",)) -> None:
        self.modules = modules

    def environment(self) -> Mapping[str, str]:
        return {"device": "not on this machine"}

    def condition(self) -> Mapping[str, str]:
        return {}

    def variables(self, artifacts: Path, texts: Sequence[str] = ()) -> Mapping[str, str]:
        kept = {name: os.environ[name] for name in ("CUDA_HOME", "CC") if name in os.environ}
        return {**kept, **compiler_caches(artifacts)}

    def machine(self) -> str:
        return f"{NO_DEVICE}/triton {installed('triton')}"

    def building(self) -> AbstractContextManager[None]:
        return nullcontext()

    def shared(self) -> AbstractContextManager[Kept]:
        return nullcontext(Kept())

    def starting(self) -> AbstractContextManager[None]:
        return nullcontext()

    def exclusive(self, *, undisturbed: bool = False) -> AbstractContextManager[None]:
        return nullcontext()

    def reserved(self, nbytes: int, timing: int = 0) -> AbstractContextManager[None]:
        return nullcontext()

    def wanted(self, for_s: float = 0.0) -> bool:
        return False

    def runner_cores(self, threads: int) -> tuple[int, ...]:
        return ()

    def claim_judge_cores(self) -> None:
        """Nothing is timed."""

    def buffer(self, nbytes: int) -> SharedBuffer:
        return SharedBuffer(nbytes)

    def stock(self, sizes: Sequence[int]) -> None:
        """A new one takes no time."""

    def copy_ns(self, tensors: Sequence[Any]) -> float:
        return 0.0

    def flushes(self, asked: bool) -> bool:
        return False

    def flush(self) -> None:
        """Nothing is timed."""

    def settle(self) -> None:
        """Calls on the processor are synchronous."""

    def distance(self, got: Any, own: Any) -> None:
        """PyTorch's operators tell."""

    def least_ns(self, written: int, threads: int) -> float:
        return 0.0

    def floor_ns(self, moving: float, written: int) -> float | None:
        return None

    def require_health(self) -> None:
        """There is nothing to harm."""

    def free(self) -> None:
        """There is nothing to give back."""
