"""Looks at code on NVIDIA's GPUs: machine code, PyTorch's profiler, and Nsight Compute where it is permitted."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kernwright.core.around import Around
from kernwright.core.profile import Profile

from . import cuda_code, cuda_trace, ncu, tools
from .cpu_report import Again
from .cuda_limits import limits_of


class Cuda:
    """The trusted half."""

    name = "cuda"
    inside = "kernwright.platforms.profilers.cuda:CudaInside"

    def peaks(self, target: str) -> Mapping[str, float]:
        """Of the product that stands for the architecture."""
        limits = limits_of(target)
        return {} if limits is None else limits.peaks()

    def count(self, threads: Sequence[int], work: Callable[[int], None], calls: int) -> Profile:
        """Nothing: a device's counters are read by the program around a call."""
        return Profile()

    def around(self, target: str) -> Around | str:
        """Nsight Compute, or why not."""
        try:
            return ncu.around()
        except tools.Silent as silent:
            return f"Nsight Compute: {silent}"

    def read(self, report: str) -> Profile:
        """What Nsight Compute wrote."""
        try:
            return ncu.profile_of(report)
        except tools.Silent as silent:
            return Profile(missing=(f"Nsight Compute: {silent}",))


class CudaInside:
    """What runs where the candidate does."""

    def look(self, built: Path, target: str, again: Again) -> Profile:
        """Its machine code."""
        try:
            return cuda_code.look(built, target)
        except tools.Silent as silent:
            return Profile(missing=(f"machine code: {silent}",))

    def trace(self, call: Callable[[], object], folder: Path) -> Profile:
        """Kernels, gaps and host time."""
        import torch

        count = torch.cuda.get_device_properties(0).multi_processor_count
        limits = limits_of(os.environ.get("KERNWRIGHT_TARGET", ""))
        try:
            return cuda_trace.look(call, cuda_trace.Device(limits, count, torch.cuda.synchronize), folder)
        except tools.Silent as silent:
            return Profile(missing=(f"torch profiler: {silent}",))

    def marked(self, call: Callable[[], object]) -> None:
        """A call, warm by then, between the marks that Nsight Compute waits for."""
        import torch

        runtime = torch.cuda.cudart()  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
        runtime.cudaProfilerStart()
        call()
        torch.cuda.synchronize()
        runtime.cudaProfilerStop()
