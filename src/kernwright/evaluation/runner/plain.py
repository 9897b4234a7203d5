"""Tensors that a module holds as neither parameter nor buffer: in an attribute, or in a list, tuple or dictionary."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import torch

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
    """By dotted name, each once; `blocks.0.tables.3` is in a list `tables`."""
    return {place.name: place.tensor for place in _places(model)}


def replace_plain(
    model: torch.nn.Module, names: Collection[str], change: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    """Put others in the place of those of these names; what a tuple holds stays."""
    for place in [*_places(model)]:
        if place.name in names and not isinstance(place.holder, tuple):
            place.holder[place.key] = change(place.tensor)


def _places(model: torch.nn.Module) -> Iterator[_Place]:
    known = {_memory(tensor) for tensor in (*model.parameters(), *model.buffers())}
    for prefix, module in model.named_modules():
        attributes = vars(module)
        for name in [*attributes]:
            if name in OWN:
                continue
            for place in _within(f"{prefix}.{name}" if prefix else name, attributes, name, MOST_DEEP):
                if _memory(place.tensor) not in known:
                    known.add(_memory(place.tensor))
                    yield place


def _within(name: str, holder: Any, key: Any, deep: int) -> Iterator[_Place]:
    value = holder[key]
    if isinstance(value, torch.Tensor):
        if value.layout == torch.strided and not value.is_quantized and value.numel():
            yield _Place(name, value, holder, key)
    elif isinstance(value, dict | list | tuple) and deep and len(value) <= MOST_LONG:
        for inner in value if isinstance(value, dict) else range(len(value)):
            yield from _within(f"{name}.{inner}", value, inner, deep - 1)


def _memory(tensor: torch.Tensor) -> int:
    """Where it lies: what has several names, or is part of another one, counts once."""
    return tensor.untyped_storage().data_ptr() if tensor.layout == torch.strided else id(tensor)
