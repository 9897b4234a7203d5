"""The reference in float64: what an output's error is measured against."""

import copy
from typing import TYPE_CHECKING, Any

import torch

from kernwright.core.errors import UserError, first_line
from kernwright.evaluation.numbers import widened
from kernwright.evaluation.runner.plain import replace_plain
from kernwright.evaluation.weights.beside import drawn_beside, has_views

if TYPE_CHECKING:
    from .reference import Reference


def doubled(model: torch.nn.Module) -> torch.nn.Module:
    """A copy in float64; a function stays what it is.

    Raises:
        RuntimeError: the module holds tensors that would not follow its weights in such a copy.
    """
    if isinstance(model, torch.nn.Module) and has_views(model):
        raise RuntimeError("it holds tensors that lie in one another's memory")
    double = copy.deepcopy(model)
    if isinstance(double, torch.nn.Module):
        double._apply(widened)  # type: ignore[no-untyped-call]
        replace_plain(double, drawn_beside(double), widened)
    return double


def oracle_for(reference: "Reference", model: torch.nn.Module, values: list[Any]) -> torch.nn.Module | None:
    """The model in float64, or None (and a note) where the reference does not run in it."""
    try:
        double, native = doubled(model), reference.outputs(model, values)
        runs = _runs(reference, double, values, native)
    except (UserError, RuntimeError) as error:
        reference.note(f"the oracle is float32: the reference does not run in float64 ({first_line(error)})")
        return None
    reference.casts.learn()
    return double if runs else None


def _runs(reference: "Reference", double: torch.nn.Module, values: list[Any], native: list[torch.Tensor]) -> bool:
    """Whether it gives results of the same shapes in float64, without its casts or, where that is another function,
    with them.

    Raises:
        UserError: it does not run so either.
    """
    casts = reference.casts
    casts.watched = True
    try:
        wide = reference.wide(double, values)
        same = [each.shape for each in wide] == [each.shape for each in native]
        if (same and casts.may_be_left_out(native, wide)) or casts.kept or not casts.met:
            return same
    except UserError:
        if casts.kept or not casts.met:
            raise
    casts.kept = True
    return [each.shape for each in reference.wide(double, values)] == [each.shape for each in native]


def wide_if_room(
    reference: "Reference", model: torch.nn.Module, values: list[Any], native: list[torch.Tensor]
) -> list[torch.Tensor]:
    """What the reference gives in float64 where there is room for that just now; else `native`, and a note."""
    try:
        wide = reference.wide(doubled(model), values)
    except (UserError, RuntimeError):
        wide = []
    reference.place.free()  # others on the device need what was taken
    if [each.shape for each in wide] == [each.shape for each in native]:
        return wide
    reference.note("some outputs were compared with the reference in its own precision: a wider one had no room")
    return native
