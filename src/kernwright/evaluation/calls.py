"""What builds are told of the calls to come."""

from collections.abc import Sequence
from typing import Any

import torch

from kernwright.core.calls import CallSpec, TensorSpec
from kernwright.core.errors import UserError
from kernwright.core.problem import Workload

from .problem.reference import Reference
from .runner.precision import cast_of
from .runner.structure import dtype_name, encode, strides_of


def calls_of(reference: Reference) -> tuple[CallSpec, ...]:
    """One per workload, held-out ones included, so that no shape is compiled for in mid-run.

    Raises:
        UserError: the problem's generator fails, or gives what cannot be passed on.
    """
    cast = cast_of(reference.problem.rules.precision)
    return tuple(_call(reference, workload, cast) for workload in reference.problem.workloads)


def must_cross(values: Sequence[Any], what: str) -> None:
    """Raises UserError where one of these, which are no tensors, cannot be passed on to a runner."""
    for value in values:
        try:
            encode(value)
        except TypeError as error:
            outer, inner = type(value).__name__, str(error)
            raise UserError(
                f"{what} returned a {outer if outer == inner else f'{outer} with a {inner} in it'}, which cannot be "
                "passed on; give tensors, None, numbers, strings, and lists, tuples or dicts of such."
            ) from error


def _call(reference: Reference, workload: Workload, cast: str | None) -> CallSpec:
    init, inputs = reference.init(workload), reference.sketch(workload).inputs
    must_cross(init, "get_init_inputs()")
    must_cross([value for value in inputs if not isinstance(value, torch.Tensor)], "get_inputs()")
    return CallSpec(
        init=tuple(init), inputs=tuple(_spec(value, cast) for value in inputs), nesting=reference.nesting, cast=cast
    )


def _spec(value: Any, cast: str | None) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    dtype = cast if cast is not None and value.is_floating_point() else dtype_name(value.dtype)
    return TensorSpec(dtype=dtype, shape=tuple(value.shape), strides=tuple(strides_of(value)))
