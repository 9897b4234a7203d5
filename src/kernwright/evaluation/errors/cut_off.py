"""The reference with shorter operands of products: rounded, or cut off as a tensor core takes what nobody rounded.

cuBLAS rounds to the nearest TF32; kernels that leave it to the hardware, which ignores thirteen bits, lose 2.6 times as
much of a product on an H100, and all of it towards 0, which an exponential or a difference behind it magnifies.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernwright.core.errors import UserError
from kernwright.evaluation.problem.cases import Asked, Case

Shorten = Callable[[torch.Tensor], torch.Tensor]
"""Makes numbers of float32 such as have fewer bits, in float32."""
_KEPT = -0x2000
"""The bits of a float32 that are left in TF32."""
_HALF = 0x1000
"""Added before the rest is cut off, it rounds to the nearest."""
_OPERANDS = {
    "mm": (0, 1),
    "bmm": (0, 1),
    "mv": (0, 1),
    "dot": (0, 1),
    "addmm": (1, 2),
    "addbmm": (1, 2),
    "addmv": (1, 2),
    "baddbmm": (1, 2),
    "convolution": (0, 1),
    "convolution_backward": (0, 1, 2),
    "_trilinear": (0, 1, 2),
    "_scaled_dot_product_cudnn_attention": (0, 1, 2),
    "_scaled_dot_product_efficient_attention": (0, 1, 2),
    "_scaled_dot_product_flash_attention": (0, 1, 2),
    "_scaled_dot_product_flash_attention_for_cpu": (0, 1, 2),
    "_scaled_dot_product_attention_math": (0, 1, 2),
}
"""Operators that multiply, by where their operands stand."""


def _operands(func: Any) -> tuple[int, ...]:
    name = func.overloadpacket.__name__
    return _OPERANDS.get(name) or _OPERANDS.get(name.removesuffix("_"), ())  # in place


def cut_to_tf32(value: torch.Tensor) -> torch.Tensor:
    """Towards 0."""
    return (value.view(torch.int32) & _KEPT).view(torch.float32)


def rounded_to_tf32(value: torch.Tensor) -> torch.Tensor:
    """To the nearest; float16 has as many digits."""
    short = ((value.view(torch.int32) + _HALF) & _KEPT).view(torch.float32)
    return torch.where(value.isfinite(), short, value)


def rounded_to_bfloat16(value: torch.Tensor) -> torch.Tensor:
    """To the nearest."""
    return value.bfloat16().float()


def with_operands_in_tf32(case: Case, *, rounded: bool = False) -> list[torch.Tensor] | None:
    """What the reference makes of the same values then; None where it cannot be run again."""
    if not isinstance(case, Asked) or case.again is None:
        return None
    try:
        with Shortened(rounded_to_tf32 if rounded else cut_to_tf32, torch.float32):
            outputs = case.again(case.values)
    except UserError:
        return None
    return outputs if [t.shape for t in outputs] == [t.shape for t in case.native] else None


class Shortened(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Operands of products that are of one type, float32 or float64, have fewer bits than that."""

    def __init__(self, shorten: Shorten, dtype: torch.dtype) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._shorten, self._dtype = shorten, dtype

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        places = _operands(func)
        short = [self._of(arg) if place in places else arg for place, arg in enumerate(args)]
        return func(*short, **(kwargs or {}))

    def _of(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.dtype != self._dtype:
            return value
        return self._shorten(value.float()).to(value.dtype)


class Operands(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Watches of which types those of products are, and all that operators are given directly."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.dtypes, self.floating = set[torch.dtype](), set[torch.dtype]()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = {place: arg.dtype for place, arg in enumerate(args) if isinstance(arg, torch.Tensor)}
        self.dtypes |= {given[place] for place in _operands(func) if place in given}
        self.floating |= {dtype for dtype in given.values() if dtype.is_floating_point}
        return func(*args, **(kwargs or {}))
