"""Not-a-number on a reference's way, of which integers at its end say nothing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from kernwright.evaluation.numbers import is_number
from kernwright.evaluation.problem.cases import Values

if TYPE_CHECKING:
    from kernwright.evaluation.problem.setting import Setting


def makes_nan(setting: "Setting", values: Values) -> bool:
    """Whether the reference has one on its way; which of several is chosen then is free."""
    watch = _NotANumber()
    with watch:
        setting.reference.outputs(setting.model, values)
    return watch.seen


def hides_nan(setting: "Setting", values: Values) -> bool:
    """Whether it makes integers or truth values of one, and has none on its way from a draw.

    The logarithm of a negative number is one, and the place of the largest number that of the first of these.
    """
    base = setting.bases[0]
    if all(t.is_floating_point() or t.is_complex() for t in base.native):
        return False
    return makes_nan(setting, values) and not makes_nan(setting, base.values)


def has_nan(value: torch.Tensor) -> bool:
    """Whether one is among its numbers; integers are all numbers."""
    return is_number(value) and bool(value.isnan().any())


class _NotANumber(TorchFunctionMode):
    """Whether any function's result holds one."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = False

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        made = func(*args, **(kwargs or {}))
        if not self.seen:
            results = made if isinstance(made, tuple) else (made,)
            self.seen = any(isinstance(value, torch.Tensor) and has_nan(value) for value in results)
        return made
