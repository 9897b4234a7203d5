"""How many input elements an output element depends on, found by changing a few of them."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from kernwright.evaluation.numbers import is_number

MANY = 64
"""Elements that are changed at once, after a single one: some move nothing, as those that a mask hides."""
FAR = 1000.0
"""How many times their usual size elements are moved by, so that a long sum in a narrow type shows it."""


def fan_in(
    call: Callable[[list[Any]], list[torch.Tensor]],
    values: Sequence[Any],
    native: Sequence[torch.Tensor],
    generator: torch.Generator,
) -> tuple[float, ...] | None:
    """For each output the input elements behind one of its elements, summed over the inputs.

    One element moves as many of an output's as it is an addend of; the rest is counting. None where no input could
    be changed, or nothing moved. `call` may raise UserError.
    """
    totals = [0.0] * len(native)
    for index, value in enumerate(values):
        if not is_number(value):
            continue
        seen = [0.0] * len(native)
        for count, way in ((1, -1.0), (min(MANY, value.numel()), 1.0)):
            changed = [*values]
            changed[index] = _moved(value, count, way, generator)
            moved = _moved_elements(call(changed), native)
            seen = [max(s, m * value.numel() / count) for s, m in zip(seen, moved, strict=True)]
            del changed
        totals = [t + s for t, s in zip(totals, seen, strict=True)]
    if not any(totals):
        return None
    return tuple(t / max(n.numel(), 1) for t, n in zip(totals, native, strict=True))


def _moved(value: torch.Tensor, count: int, way: float, generator: torch.Generator) -> torch.Tensor:
    places = torch.randint(value.numel(), (count,), generator=generator, device=value.device)
    moved = value.clone(memory_format=torch.contiguous_format)
    largest = float(value.abs().max()) or 1.0
    most = torch.finfo(value.dtype).max / 4
    moved.view(-1)[places] = max(-most, min(way * FAR * largest, most))
    return moved.view(value.shape)


def _moved_elements(outputs: Sequence[torch.Tensor], native: Sequence[torch.Tensor]) -> list[int]:
    return [
        int((got != own).sum()) if got.shape == own.shape else own.numel()
        for got, own in zip(outputs, native, strict=True)
    ]
