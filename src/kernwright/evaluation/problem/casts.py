"""A cast to a shorter type within the reference is part of its own error, not of the function that it computes: the
oracle, which runs in float64, makes none. So whoever rounds less often is right, as is whoever rounds there too.

Eight bits are another matter: to quantise is what such a reference is for.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernwright.evaluation.numbers import is_number, real

_WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
}
MOST = 0.1
"""Share of a result that casts may change, RMS: beyond that something is decided by what they leave."""


class Casts:
    """Of one reference."""

    def __init__(self) -> None:
        self.kept = False
        """Whether the oracle makes them too: the reference does not run without, or is another function then."""
        self.met = False
        """Whether there were any."""

    def left_out(self) -> AbstractContextManager[Any]:
        """Within it operators that are to give a shorter type give the wide one."""
        return nullcontext() if self.kept else _LeftOut(self)

    def may_be_left_out(self, native: Sequence[torch.Tensor], wide: Sequence[torch.Tensor]) -> bool:
        """Whether it makes no more of a difference than rounding does."""
        return not self.met or all(_is_near(*pair) for pair in zip(native, wide, strict=True) if is_number(pair[0]))


class _LeftOut(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self, casts: Casts) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._casts = casts

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        # What is drawn in another type is drawn otherwise.
        if given.get("dtype") in _WIDE and torch.Tag.nondeterministic_seeded not in getattr(func, "tags", ()):
            given["dtype"] = _WIDE[given["dtype"]]
            self._casts.met = True
        return func(*args, **given)


def _is_near(native: torch.Tensor, wide: torch.Tensor) -> bool:
    own, true = real(native).double(), real(wide).double()
    known = own.isfinite() & true.isfinite()
    own, true = own[known], true[known]
    return float((own - true).square().sum()) <= MOST**2 * float(true.square().sum())
