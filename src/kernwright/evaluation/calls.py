"""What builds are told of the calls to come."""

from typing import Any

import torch

from kernwright.core.calls import CallSpec, TensorSpec

from .reference import Reference
from .runner.structure import dtype_name


def calls_of(reference: Reference) -> tuple[CallSpec, ...]:
    """One per workload, held-out ones included, so that no shape is compiled for in mid-run.

    Raises:
        UserError: the problem's generator fails.
    """
    return tuple(
        CallSpec(init=tuple(reference.init(load)), inputs=tuple(map(_spec, reference.sketch(load).inputs)))
        for load in reference.problem.workloads
    )


def _spec(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return TensorSpec(dtype=dtype_name(value.dtype), shape=tuple(value.shape), strides=tuple(value.stride()))
