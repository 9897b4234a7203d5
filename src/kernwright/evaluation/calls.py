"""What builds are told of the calls to come."""

from typing import Any

import torch

from kernwright.core.calls import CallSpec, TensorSpec

from .reference import Reference
from .runner.precision import cast_of
from .runner.structure import dtype_name, strides_of


def calls_of(reference: Reference) -> tuple[CallSpec, ...]:
    """One per workload, held-out ones included, so that no shape is compiled for in mid-run.

    Raises:
        UserError: the problem's generator fails.
    """
    cast = cast_of(reference.problem.rules.precision)
    return tuple(
        CallSpec(
            init=tuple(reference.init(load)),
            inputs=tuple(_spec(value, cast) for value in reference.sketch(load).inputs),
            cast=cast,
        )
        for load in reference.problem.workloads
    )


def _spec(value: Any, cast: str | None) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    dtype = cast if cast is not None and value.is_floating_point() else dtype_name(value.dtype)
    return TensorSpec(dtype=dtype, shape=tuple(value.shape), strides=tuple(strides_of(value)))
