"""What a candidate's entry is: something to call with inputs, or something that makes the module which is."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch

MAKER = "ModelNew"
"""A function of this name makes the module: whatever the name stands for has the reference's weights."""


def makes_module(name: str, entry: Any) -> bool:
    """Whether the entry is called with what `get_init_inputs` gives; else with inputs, as `kernel` is."""
    return isinstance(entry, type) or name == MAKER


def made(entry: Callable[..., Any], init: Sequence[Any]) -> Any:
    """The module of a class, or of a function that makes one.

    Raises:
        TypeError: it is no class and takes other arguments, or gives something else.
    """
    if isinstance(entry, type):
        return entry(*init)
    wanted = f"{MAKER} must be a class, or a function that makes an nn.Module of what get_init_inputs() gives"
    if isinstance(entry, torch.nn.Module):
        raise TypeError(f"{wanted}; it is an nn.Module already")
    if fault := _misfit(entry, init):
        raise TypeError(f"{wanted}; {fault}. What is called with inputs alone is named kernel")
    model = entry(*init)
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"{wanted}; it gave a {type(model).__name__}")
    return model


def _misfit(entry: Callable[..., Any], init: Sequence[Any]) -> str:
    """Why it cannot be called so, where that can be told."""
    try:
        signature = inspect.signature(entry)
    except ValueError:
        return ""
    except TypeError:
        return f"it is a {type(entry).__name__}"
    try:
        signature.bind(*init)
    except TypeError as error:
        return f"of {len(init)} arguments it says: {error}"
    return ""
