"""Where a call stands under the roofs of its device: what must move, what the reference computes, and the peaks."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch.utils.flop_counter import FlopCounterMode

from kernwright.core.errors import UserError
from kernwright.core.problem import Workload

from .footprint import nbytes_of
from .reference import Reference

STRICT, TF32 = "strict_float32", "tf32"


@dataclass(frozen=True, slots=True)
class Work:
    """What one call of a workload has to do."""

    least_bytes: float | None
    """Of inputs, weights and outputs; None where sizes alone do not tell."""
    flops: float | None
    """Of the reference, as PyTorch counts them: products and convolutions alone. Advice, since a kernel may need
    fewer."""
    precision: str
    """The name under which a peak is kept."""


def work_of(reference: Reference, workload: Workload) -> Work:
    """Found by sizes, without running the reference where its code allows that."""
    try:
        with FlopCounterMode(display=False) as counter:
            sketch = reference.sketched(workload)
        known = sketch.other_bytes is not None
        least = float(nbytes_of(sketch.inputs) + (sketch.other_bytes or 0)) if known else None
        flops = float(counter.get_total_flops()) if known else None
    except (UserError, RuntimeError, NotImplementedError):  # not every operator can be counted
        sketch, least, flops = reference.sketch(workload), None, None
    return Work(least, flops, _precision(sketch.inputs, reference.problem.rules.precision))


def roofline(work: Work, peaks: Mapping[str, float], time_ns: float | None = None) -> dict[str, float]:
    """Counters; without a time, what does not need one."""
    bandwidth, speed = peaks.get("bytes_per_s"), peaks.get(work.precision)
    found = {"least_bytes": work.least_bytes, "flops": work.flops}
    if work.least_bytes and work.flops is not None:
        found["intensity"] = work.flops / work.least_bytes
    if bandwidth and speed:
        found["ridge"] = speed / bandwidth
    if time_ns and bandwidth and work.least_bytes:
        found["memory_roof"] = work.least_bytes / bandwidth / time_ns * 1e9
    if time_ns and speed and work.flops:
        found["compute_roof"] = work.flops / speed / time_ns * 1e9
    return {name: value for name, value in found.items() if value is not None}


def _precision(values: object, rule: str) -> str:
    if rule not in (STRICT, TF32):
        return rule
    tensors = values if isinstance(values, list) else []
    kinds = [v.dtype for v in tensors if isinstance(v, torch.Tensor) and v.is_floating_point()]
    name = str(kinds[0]).removeprefix("torch.") if kinds else "float32"
    return TF32 if name == "float32" and rule == TF32 else name
