"""The oracle runs in float64, but is to be the same function: where a module asks for the limits of its numbers, as for
a mask of the least float32, it hears those of the type that it has elsewhere."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from kernwright.evaluation.numbers import is_number

WIDE = (torch.float64, torch.complex128)
_BOUNDED = (torch.nan_to_num, torch.nan_to_num_, torch.Tensor.nan_to_num, torch.Tensor.nan_to_num_)
_NORMS = (torch.rms_norm, functional.rms_norm)
_PARAMETERS = ("input", "nan", "posinf", "neginf"), ("input", "normalized_shape", "weight", "eps")


def own_type(values: Sequence[Any], otherwise: torch.dtype) -> torch.dtype:
    """That which the numbers among these have, the wider where several do."""
    found: torch.dtype | None = None
    for dtype in (value.dtype for value in values if is_number(value)):
        found = dtype if found is None else torch.promote_types(found, dtype)
    return found or otherwise


@contextmanager
def limits_of(own: torch.dtype) -> Iterator[None]:
    """Within it `torch.finfo` of wide types, the bounds of `nan_to_num` and the epsilon of `rms_norm` are those of this
    type."""
    if own in WIDE:
        yield
        return
    known: Any = torch.finfo
    torch.finfo = lambda of=None: known(own if of in (None, *WIDE) else of)  # type: ignore[assignment, misc]
    try:
        with _Limits(known(own)):
            yield
    finally:
        torch.finfo = known  # type: ignore[misc]


class _Limits(TorchFunctionMode):
    def __init__(self, own: torch.finfo) -> None:
        super().__init__()
        bounds = {"posinf": own.max, "neginf": own.min}
        # Types shorter than float32 are normed in that.
        epsilon = {"eps": max(own, torch.finfo(torch.float32), key=lambda each: each.bits).eps}
        self._left_out = dict.fromkeys(_BOUNDED, bounds) | dict.fromkeys(_NORMS, epsilon)

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        tensor = args[0] if args else given.get("input")
        if func in self._left_out and isinstance(tensor, torch.Tensor) and tensor.dtype in WIDE:
            names = _PARAMETERS[func in _NORMS][: len(args)]
            said = {**dict(zip(names, args, strict=True)), **given}
            left_out = {name: value for name, value in self._left_out[func].items() if said.get(name) is None}
            said.pop("input", None)
            return func(tensor, **said | left_out)
        return func(*args, **given)
