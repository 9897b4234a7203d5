"""The reference in float64: what an output's error is measured against."""

import copy
from typing import TYPE_CHECKING, Any

import torch

from kernwright.core.errors import UserError
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
