"""A call that goes forward and backward, the same in the judge's process and in every runner."""

from collections.abc import Callable, Sequence
from secrets import randbelow
from typing import Any

import torch

from .structure import OtherKeys, distinct, flatten, overlaps

_BACKWARD = torch.autograd.Variable._execution_engine.run_backward
"""What `torch.autograd.grad` asks, taken before a candidate could put its own in its place: outputs, directions,
whether to keep the graph and to make one, inputs, whether some may lead nowhere."""
LATER = 0.5
"""Share of the first call's inputs that are the second one's."""
FEW = 1 << 16
"""Of so many elements of an output all are kept as they are before anything goes backward, of more those of one place
along the longest axis, and in half of the calls they are given so: what is filled in while gradients are made comes too
late for whoever uses it."""


def differentiated(
    function: Callable[..., Any], weights: Sequence[torch.Tensor], outputs: Sequence[int]
) -> Callable[..., list[Any]]:
    """What `function` gives, then the gradients of its floating inputs, then those of the weights.

    The last arguments of a call are what the outputs of these numbers are differentiated along. `twice`: another
    forward call, whose results live on, comes between, and directions, one number everywhere, are expanded from it,
    as `y.sum().backward()` gives them.
    """
    count = len(outputs)

    def forward(arguments: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        with torch.enable_grad():
            given = followed(arguments)
            return given, flatten(function(*given))

    def call(*arguments: Any, twice: bool = False) -> list[Any]:
        along = arguments[-count:]
        given, leaves = forward(arguments[:-count])
        if any(type(leaf) is OtherKeys for leaf in leaves):
            return leaves
        chosen = [_differentiable(leaves, number) for number in outputs]
        wanted = [*filter(_is_floating, given), *weights]
        directions = [direction.to(leaf.dtype) for direction, leaf in zip(along, chosen, strict=True)]
        early = [(part, part.clone()) for part in _parts(leaves, arguments)]
        if twice:
            later = forward([a * LATER if _is_floating(a) else a for a in arguments[:-count]])
            directions = [d.flatten()[0].expand(d.shape) if d.numel() else d for d in directions]
        found = _BACKWARD(tuple(chosen), tuple(directions), False, False, tuple(wanted), True, accumulate_grad=False)
        if twice:
            del later
        # Else a result that is destroyed on the way back would always be made whole. A copy is made in any case: both
        # kinds of calls take as long.
        back = randbelow(2) == 0
        for part, before in early:
            part.copy_(before) if back else before.copy_(part)
        return [
            *(leaf.detach() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves),
            *(torch.zeros_like(w) if g is None else _own(g, arguments) for g, w in zip(found, wanted, strict=True)),
        ]

    return call


def _parts(leaves: Sequence[Any], arguments: Sequence[Any]) -> list[torch.Tensor]:
    """Of outputs in memory of their own, by chance where it is not all."""
    theirs = {a.untyped_storage().data_ptr() for a in arguments if isinstance(a, torch.Tensor)}
    found = []
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor) and leaf.numel() and leaf.untyped_storage().data_ptr() not in theirs:
            part = distinct(leaf.detach())
            if part.numel() > FEW:
                axis = max(range(part.dim()), key=part.shape.__getitem__)
                part = part.select(axis, randbelow(part.shape[axis]))
            if not overlaps(part.shape, part.stride()):
                found.append(part)
    return found


def followed(arguments: Sequence[Any]) -> list[Any]:
    """The same values, whose floating ones can be differentiated by."""
    return [a.detach().requires_grad_() if _is_floating(a) else a for a in arguments]


def _differentiable(leaves: Sequence[Any], number: int) -> torch.Tensor:
    leaf = leaves[number] if number < len(leaves) else None
    if not isinstance(leaf, torch.Tensor) or not leaf.requires_grad:
        raise RuntimeError(
            f"output {number} has no gradient; make it by PyTorch's operators or in a torch.autograd.Function"
        )
    return leaf


def _own(gradient: torch.Tensor, arguments: Sequence[Any]) -> torch.Tensor:
    """A gradient that is an argument itself, as that of a sum is, would change with it; a sparse one is none."""
    if gradient.layout is not torch.strided:
        return gradient
    memory = gradient.untyped_storage().data_ptr()
    tensors = (a for a in arguments if isinstance(a, torch.Tensor))
    return gradient.clone() if any(a.untyped_storage().data_ptr() == memory for a in tensors) else gradient


def _is_floating(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()
