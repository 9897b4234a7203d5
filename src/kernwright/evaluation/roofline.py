"""Where a call stands under the roofs of its device: what must move, what the reference computes, and the peaks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode, flop_registry

from kernwright.core.errors import UserError
from kernwright.core.problem import Workload
from kernwright.evaluation.footprint import nbytes_of

from .problem.reference import Reference, Sketch

STRICT, TF32 = "strict_float32", "tf32"
_MOVES = frozenset(
    "cat clone constant_pad_nd copy copy_ embedding fill fill_ flip gather im2col index index_put index_put_ "
    "index_select lift_fresh masked_select pixel_shuffle pixel_unshuffle reflection_pad1d reflection_pad2d repeat "
    "replication_pad1d replication_pad2d roll scatter scatter_ select_scatter slice_scatter stack take tril triu "
    "upsample_nearest1d upsample_nearest2d zero_ _to_copy _unsafe_index _unsafe_view".split()
)
"""Operators that compute nothing, beside views and those that make a tensor of none."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one call of a workload has to do."""

    least_bytes: float | None
    """Of inputs, weights and outputs; None where sizes alone do not tell."""
    products: float | None
    """Operations of products and convolutions in the forward pass, as PyTorch counts them. They alone are held against
    a peak, which is that of units for products. Advice, since a kernel may need fewer."""
    flops: float | None
    """These, and one operation an element for each other operator, a transcendental function or a whole softmax too, so
    rather too few: of the larger of what it reads and writes, which for a reduction is what it reads."""
    precision: str
    """The name under which a peak is kept."""


def work_of(reference: Reference, workload: Workload) -> Work:
    """Found by sizes, without running the reference where its code allows that."""
    products, others = FlopCounterMode(display=False), _Others()

    def counted(call: Callable[[], Any]) -> Any:
        with products, others:
            return call()

    try:
        sketch = reference.sketched(workload, counted)
    except (UserError, RuntimeError, NotImplementedError):  # not every operator can be counted
        sketch = Sketch(reference.sketch(workload).inputs, None)
    precision = _precision(sketch.inputs, reference.problem.rules.precision)
    if sketch.other_bytes is None:
        return Work(None, None, None, precision)
    total = float(products.get_total_flops())
    return Work(float(nbytes_of(sketch.inputs) + sketch.other_bytes), total, total + others.count, precision)


def roofline(work: Work, peaks: Mapping[str, float], time_ns: float | None = None) -> dict[str, float]:
    """Counters; without a time, what does not need one."""
    bandwidth, speed = peaks.get("bytes_per_s"), peaks.get(work.precision)
    found = {"least_bytes": work.least_bytes, "flops": work.flops}
    if work.least_bytes and work.flops is not None:
        found["intensity"] = work.flops / work.least_bytes
    if bandwidth and speed:
        found["ridge"] = ridge = speed / bandwidth
        if work.least_bytes and work.products is not None:
            found["reach"] = work.products / work.least_bytes / ridge
    if time_ns and bandwidth and work.least_bytes:
        found["memory_roof"] = work.least_bytes / bandwidth / time_ns * 1e9
    if time_ns and speed and work.products:
        found["compute_roof"] = work.products / speed / time_ns * 1e9
    return {name: value for name, value in found.items() if value is not None}


class _Others(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the operators that are neither products nor moves."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        packet = getattr(func, "overloadpacket", None)
        if packet is None or func.is_view or packet in flop_registry or _is_move(packet.__name__):
            return result
        read = [leaf.numel() for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        written = [leaf.numel() for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        self.count += max((*read, *written)) if read else 0
        return result


def _is_move(name: str) -> bool:
    return name in _MOVES or name.endswith("_like") or name.startswith("new_")


def _precision(values: object, rule: str) -> str:
    if rule not in (STRICT, TF32):
        return rule
    tensors = values if isinstance(values, list) else []
    kinds = [v.dtype for v in tensors if isinstance(v, torch.Tensor) and v.is_floating_point()]
    name = str(kinds[0]).removeprefix("torch.") if kinds else "float32"
    return TF32 if name == "float32" and rule == TF32 else name
