"""Whether two modules that were made alike differ in what they hold beside tensors."""

from collections import deque
from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import partial
from types import CellType, FunctionType, MethodType, SimpleNamespace
from typing import Any
from weakref import ReferenceType

import torch
from torch.nn.utils.parametrize import type_before_parametrizations

from kernwright.evaluation.runner.plain import MOST_DEEP, MOST_LONG, OWN, lies_in_memory

PLAIN = (bool, int, float, complex, str, bytes, set, frozenset, range, slice, torch.dtype, torch.device)


def alike(model: torch.nn.Module, other: torch.nn.Module, *, unknown: bool) -> bool:
    """Whether they are of the same parts, which hold the same beside tensors; `unknown`: what is said of objects of a
    type whose contents nobody knows."""
    mine, theirs = dict(model.named_modules()), dict(other.named_modules())
    registered = {id(module): name for known in (mine, theirs) for name, module in known.items()}
    return mine.keys() == theirs.keys() and all(
        _alike(_held(module), _held(theirs[name]), MOST_DEEP, registered, unknown)
        and type_before_parametrizations(module) is type_before_parametrizations(theirs[name])
        for name, module in mine.items()
    )


def _held(module: torch.nn.Module) -> dict[str, Any]:
    """But for what matters where a state is saved or loaded alone."""
    return {name: value for name, value in vars(module).items() if name not in OWN and "state_dict" not in name}


def _alike(one: Any, other: Any, deep: int, registered: Mapping[int, str], unknown: bool) -> bool:
    """`registered`: names of modules that are looked at anyway."""
    if type(one) is not type(other):
        return False
    if one is other:
        return True
    if id(one) in registered:
        return registered[id(one)] == registered.get(id(other))
    if isinstance(one, torch.Tensor):
        return lies_in_memory(one) and lies_in_memory(other)
    if isinstance(one, PLAIN):
        return bool(one == other) or repr(one) == repr(other) == "nan"
    if type(one).__module__ == "numpy" and hasattr(one, "tobytes"):
        return (one.shape, one.dtype, one.tobytes()) == (other.shape, other.dtype, other.tobytes())
    parts = [_parts(each) for each in (one, other)]
    if deep == 0 or parts[0] is None or parts[1] is None:
        return unknown
    return parts[0].keys() == parts[1].keys() and all(
        _alike(value, parts[1][key], deep - 1, registered, unknown) for key, value in parts[0].items()
    )


def _parts(value: Any) -> dict[Any, Any] | None:
    """What it consists of; None where nobody knows."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list | tuple | deque):
        return dict(enumerate(value)) if len(value) <= MOST_LONG else None
    if isinstance(value, ReferenceType):
        return {"of": value()}
    if isinstance(value, torch.nn.Module | SimpleNamespace) or is_dataclass(value):
        return vars(value) if hasattr(value, "__dict__") else None
    if isinstance(value, partial):
        return {"function": value.func, "given": value.args, "by name": value.keywords}
    if isinstance(value, MethodType):
        return {"of": value.__self__, "what": value.__func__}
    return _parts_of_function(value) if isinstance(value, FunctionType) else None


def _parts_of_function(function: FunctionType) -> dict[Any, Any]:
    """Its code, which two lambdas of one line share, and what it has closed over."""
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]
    return {"code": id(function.__code__), "cells": cells, "by default": function.__defaults__}
