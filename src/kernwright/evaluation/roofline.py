"""Where a call stands under the roofs of its device: what must move, what the reference computes, and the peaks."""

from collections.abc import Mapping

import torch
from torch.utils.flop_counter import FlopCounterMode

from kernwright.core.problem import Problem

from .setting import Setting

STRICT, TF32 = "strict_float32", "tf32"


def roofline(setting: Setting, peaks: Mapping[str, float], time_ns: float | None) -> dict[str, float]:
    """Counters of one call of a workload. Operations are those of the reference, as PyTorch counts them: products and
    convolutions alone, and advice, since a kernel may need fewer."""
    least_bytes = float(setting.traffic_bytes)
    flops = _flops(setting)
    found = {"least_bytes": least_bytes, "flops": flops}
    if least_bytes > 0:
        found["intensity"] = flops / least_bytes
    bandwidth, speed = peaks.get("bytes_per_s"), peaks.get(_precision(setting, setting.reference.problem))
    if bandwidth and speed:
        found["ridge"] = speed / bandwidth
    if time_ns and bandwidth:
        found["memory_roof"] = least_bytes / bandwidth / time_ns * 1e9
    if time_ns and speed and flops:
        found["compute_roof"] = flops / speed / time_ns * 1e9
    return found


def _flops(setting: Setting) -> float:
    with FlopCounterMode(display=False) as counter:
        setting.reference.outputs(setting.model, setting.bases[0].values)
    return float(counter.get_total_flops())


def _precision(setting: Setting, problem: Problem) -> str:
    """The name under which a peak is kept."""
    if problem.rules.precision not in (STRICT, TF32):
        return problem.rules.precision
    values = (*setting.bases[0].values, *setting.state.values())
    kinds = [v.dtype for v in values if isinstance(v, torch.Tensor) and v.is_floating_point()]
    name = str(kinds[0]).removeprefix("torch.") if kinds else "float32"
    return TF32 if name == "float32" and problem.rules.precision == TF32 else name
