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

_OWN = "the oracle is float32: the reference does not run in float64 ({})"


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
    casts, reason = reference.casts, ""
    try:
        double, native = doubled(model), reference.outputs(model, values)
    except (UserError, RuntimeError) as error:
        reference.note(_OWN.format(first_line(error)))
        return None
    while True:
        try:
            wide = reference.wide(double, values)
            same = [each.shape for each in wide] == [each.shape for each in native]
            if same and (casts.kept or casts.may_be_left_out(native, wide)):
                return double
        except (UserError, RuntimeError) as error:
            reason = first_line(error)
        if casts.kept or not casts.met:
            break
        casts.kept = True
    if reason:
        reference.note(_OWN.format(reason))
    return None


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
