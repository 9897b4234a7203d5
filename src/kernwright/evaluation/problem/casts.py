"""A cast to a shorter type within the reference is part of its own error, not of the function that it computes: the
oracle, which runs in float64, makes none. So whoever rounds less often is right, as is whoever rounds there too.

Eight bits are another matter: to quantise is what such a reference is for.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from kernwright.evaluation.numbers import is_number, real

_WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
}
_FACTORIES = (torch.ops.aten.rand, torch.ops.aten.randn, torch.ops.aten.normal)
MOST, MOST_OF_A_PART, LEAST = 0.1, 0.2, 8
"""Share of a result that casts may change, RMS, and of each slice of so many numbers: beyond that something is decided
by what they leave."""
TIMES, OTHERS = 10.0, 0.01
"""Numbers that change so many times, or whole ones that change at all, are no more than this share."""


class Casts:
    """Of one reference."""

    def __init__(self) -> None:
        self.kept = False
        """Whether the oracle makes them too: the reference does not run without, or is another function then."""
        self.met = False
        """Whether there were any."""
        self.drawn = False
        """Whether anything was drawn."""
        self.watched = True
        """Where there is nothing of both, nobody has to look, which takes longer than a small operator."""

    def left_out(self, own: torch.dtype, usual: torch.dtype) -> AbstractContextManager[Any]:
        """Within it operators that are to give a shorter type give the wide one, and what is drawn, which would be
        other numbers in a wide type, is drawn in the reference's own: the `usual` one where nothing says which."""
        return _Wide(self, own, usual) if self.watched else nullcontext()

    def learn(self) -> None:
        """A module that was called, and does neither, is watched no longer."""
        self.watched = self.met or self.drawn

    def may_be_left_out(self, native: Sequence[torch.Tensor], wide: Sequence[torch.Tensor]) -> bool:
        """Whether it makes no more of a difference than rounding does."""
        return not self.met or all(_is_near(*pair) for pair in zip(native, wide, strict=True))


class _Wide(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self, casts: Casts, own: torch.dtype, usual: torch.dtype) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._casts, self._own, self._usual = casts, own, usual

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        if torch.Tag.nondeterministic_seeded in getattr(func, "tags", ()):
            self._casts.drawn = True
            return self._drawn(func, args, given)
        if given.get("dtype") in _WIDE:
            self._casts.met = True
            if not self._casts.kept:
                given["dtype"] = _WIDE[given["dtype"]]
        return func(*args, **given)

    def _drawn(self, func: Any, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
        packet, first = func.overloadpacket, args[0] if args else None
        if packet.__name__.endswith("_") and isinstance(first, torch.Tensor):
            short = self._short(first)
            func(short, *args[1:], **given)
            return first if short is first else first.copy_(short)
        asked = given.get("dtype")
        if asked is None and packet in _FACTORIES and not isinstance(first, torch.Tensor):
            given["dtype"] = self._usual
        made = func(*map(self._short, args), **given)
        if self._casts.kept and asked is not None:
            return made
        return tree_map_only(torch.Tensor, lambda each: each.to(_WIDE.get(each.dtype, each.dtype)), made)

    def _short(self, value: Any) -> Any:
        wide = isinstance(value, torch.Tensor) and value.dtype in _WIDE.values()
        return value.to(self._own) if wide and not value.is_complex() else value


def _is_near(native: torch.Tensor, wide: torch.Tensor) -> bool:
    if not native.numel():
        return True
    if not is_number(native):
        return float((native != wide).double().mean()) <= OTHERS
    own, true = real(native).double(), real(wide).double()
    known = own.isfinite() & true.isfinite()
    own, true = torch.where(known, own, 0.0), torch.where(known, true, 0.0)
    sizes = own.abs(), true.abs()
    times = (sizes[0] > TIMES * sizes[1]) | (sizes[1] > TIMES * sizes[0])
    if float(times.double().mean()) > OTHERS:
        return False
    error, size = (own - true).square(), true.square()
    if float(error.sum()) > MOST**2 * float(size.sum()):
        return False
    axes = [axis for axis in range(true.dim()) if true.numel() // true.shape[axis] >= LEAST]
    each = ([axis for axis in range(true.dim()) if axis != one] for one in axes)
    return all(bool((error.sum(rest) <= MOST_OF_A_PART**2 * size.sum(rest)).all()) for rest in each)
