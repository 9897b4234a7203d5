"""What builds are told of the calls to come."""

from typing import Any

import torch

from kernwright.core.calls import CallSpec, TensorSpec

from .reference import Reference
from .runner.structure import dtype_name
from .setting import LEAN_SHARE, nbytes_of


def calls_of(reference: Reference) -> tuple[CallSpec, ...]:
    """One per workload, held-out ones included, so that no shape is compiled for in mid-run.

    Raises:
        UserError: the problem's generator fails.
    """
    return tuple(
        CallSpec(init=tuple(reference.init(load)), inputs=tuple(map(_spec, reference.sketch(load).inputs)))
        for load in reference.problem.workloads
    )


PARTICIPANTS = 6
"""Runners of an evaluation that live at the same time, and what the judge itself holds."""


def memory_needed(reference: Reference, rotation_bytes: int) -> int:
    """Bytes of device memory that an evaluation may take, as far as sizes tell.

    `rotation_bytes`: what the input sets of a workload hold at least.

    Raises:
        UserError: the problem's generator fails.
    """
    needed = 0
    for load in reference.problem.workloads:
        sketch = reference.sketch(load)
        given = nbytes_of(sketch.inputs)
        others = given if sketch.other_bytes is None else sketch.other_bytes
        each = given + others
        if reference.problem.backward:
            each *= 2  # every number has a gradient, or is the direction of one
        needed += LEAN_SHARE * each + PARTICIPANTS * rotation_bytes
    return needed


def _spec(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return TensorSpec(dtype=dtype_name(value.dtype), shape=tuple(value.shape), strides=tuple(value.stride()))
