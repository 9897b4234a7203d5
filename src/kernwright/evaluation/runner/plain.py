"""Tensors that a module holds as neither parameter nor buffer: in an attribute, or in what an attribute holds."""

from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, is_dataclass
from types import SimpleNamespace
from typing import Any

import torch
from torch.nn.parameter import is_lazy

OWN = {"_parameters", "_buffers", "_modules"}
"""What PyTorch keeps in a module's attributes itself."""
MOST_DEEP, MOST_LONG = 4, 4096
"""Lists within lists, and entries of one."""


@dataclass(frozen=True, slots=True)
class _Place:
    name: str
    tensor: torch.Tensor
    holder: Any
    """What holds it, by `key`."""
    key: Any


def plain_tensors(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """By dotted name; `blocks.0.tables.3` is in a list `tables`. Several may lie in the same memory, or in that of a
    parameter."""
    return {place.name: place.tensor for place in _places(model)}


def replace_plain(
    model: torch.nn.Module, names: Collection[str], change: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    """Put others in the place of those of these names.

    Raises:
        RuntimeError: a tuple holds one.
    """
    for place in [*_places(model)]:
        if place.name in names:
            if isinstance(place.holder, tuple):
                raise RuntimeError(f"a tuple holds {place.name}, which nothing else can take the place of")
            place.holder[place.key] = change(place.tensor)


def _places(model: torch.nn.Module) -> Iterator[_Place]:
    registered = {id(module) for module in model.modules()}
    for prefix, module in model.named_modules():
        attributes = vars(module)
        for name in [*attributes]:
            if name not in OWN:
                yield from _within(f"{prefix}.{name}" if prefix else name, attributes, name, MOST_DEEP, registered)


def _within(name: str, holder: Any, key: Any, deep: int, registered: Collection[int]) -> Iterator[_Place]:
    """`registered`: modules that are looked at anyway."""
    value = holder[key]
    if isinstance(value, torch.Tensor):
        if lies_in_memory(value) and value.numel():
            yield _Place(name, value, holder, key)
        return
    for inner, of in _parts(value, registered) if deep else ():
        yield from _within(f"{name}.{inner}", of, inner, deep - 1, registered)


def _parts(value: Any, registered: Collection[int]) -> list[tuple[Any, Any]]:
    """Keys, and what has them."""
    if isinstance(value, torch.nn.Module):
        if id(value) in registered:
            return []
        own = [(inner, vars(value)[part]) for part in sorted(OWN) for inner in vars(value)[part]]
        return [*own, *((inner, vars(value)) for inner in vars(value) if inner not in OWN)]
    if isinstance(value, SimpleNamespace) or (is_dataclass(value) and not isinstance(value, type)):
        value = getattr(value, "__dict__", {})  # with slots it has none
    if isinstance(value, dict) and len(value) <= MOST_LONG:
        return [(inner, value) for inner in value]
    if isinstance(value, list | tuple | deque) and len(value) <= MOST_LONG:
        return [(inner, value) for inner in range(len(value))]
    return []


def lies_in_memory(tensor: torch.Tensor) -> bool:
    """Whether its numbers lie there as strides say, so that others can be written in their place."""
    if is_lazy(tensor) or tensor.is_nested or tensor.is_meta or tensor.is_quantized:
        return False
    return tensor.layout == torch.strided
