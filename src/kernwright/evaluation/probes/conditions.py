"""By how much conditions hold that come of several comparisons: all of eight tones, one of many places, a pattern."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

VIEWS = frozenset("unfold view reshape flatten unsqueeze squeeze expand expand_as movedim transpose permute".split())
VIEWS |= {"getitem", "select", "narrow", "flip", "roll", "contiguous", "clone"}
"""Functions of truth values that leave them what they are, at other places."""
_BOTH = frozenset({"and", "iand", "rand", "bitwise_and", "logical_and"})
_EITHER = frozenset({"or", "ior", "ror", "bitwise_or", "logical_or"})
_NOT = frozenset({"invert", "bitwise_not", "logical_not"})
_AS = {"eq": 1, "ne": -1, "xor": -1, "bitwise_xor": -1, "logical_xor": -1}
COMBINING = _BOTH | _EITHER | _NOT | {"all", "any", *_AS}
MOST = 64
"""Truth values of one run that are followed."""


class Conditions:
    """Of one run of a reference: what came of comparisons, each with a number that is above 0 where it is true."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def learn(self, truth: Any, margin: torch.Tensor) -> bool:
        """Whether that is what came of it; from now on it is followed."""
        fits = isinstance(truth, torch.Tensor) and truth.dtype == torch.bool and truth.shape == margin.shape
        if fits and len(self._known) < MOST:
            self._known[id(truth)] = truth, margin  # held, so that no other gets its id
        return fits

    def margin(self, func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> torch.Tensor | None:
        """Of what a function makes of such truth values; None of others."""
        if not self._known or not args or (own := self._of(args[0])) is None or not own.numel():
            return None
        name = getattr(func, "__name__", "").strip("_")
        if name in VIEWS:
            made: torch.Tensor = func(own, *args[1:], **kwargs)
            return made
        if name in _NOT:
            return -own
        if name in ("all", "any"):
            return _reduced(own, name, args[1:], kwargs)
        if len(args) < 2 or not isinstance(args[1], torch.Tensor) or args[1].dtype != torch.bool:
            return None
        return self._combined(name, own, args[1])

    def _combined(self, name: str, own: torch.Tensor, truth: torch.Tensor) -> torch.Tensor | None:
        other = self._of(truth)
        if name in _AS:
            return None if other is not None else own * (_AS[name] * (2 * truth.to(own.dtype) - 1))
        if name not in _BOTH | _EITHER:
            return None
        if other is None:  # nothing leads there, where it is false
            return torch.where(truth, own, own.detach().abs().neg()) if name in _BOTH else None
        if name in _EITHER:
            return torch.maximum(own, other)
        return _together(torch.minimum(own, other), own.clamp(max=0) + other.clamp(max=0))

    def _of(self, truth: Any) -> torch.Tensor | None:
        known = self._known.get(id(truth))
        return known[1] if known is not None else None


def _reduced(margin: torch.Tensor, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> torch.Tensor:
    given = dict(zip(("dim", "keepdim"), args, strict=False)) | kwargs
    dim, keepdim = given.get("dim", given.get("axis")), given.get("keepdim", given.get("keepdims", False))
    if dim is None:
        margin, dim, keepdim = margin.flatten(), 0, False
    if name == "any":
        return margin.amax(dim, keepdim)
    return _together(margin.amin(dim, keepdim), margin.clamp(max=0).sum(dim, keepdim))


def _together(least: torch.Tensor, missing: torch.Tensor) -> torch.Tensor:
    """Of what holds, the least; else what is missing of all that does not: uphill all come nearer at once."""
    return torch.where(least > 0, least, missing - torch.finfo(least.dtype).tiny)
