"""Integers of a module that belong together, as starts, lengths and places do: those of one seed and no others."""

from collections.abc import Collection

import torch

from .freedom import DTYPES
from .numbers import same_bytes
from .runner.plain import alike_but_for_tensors
from .state import state_of


def belonging(
    model: torch.nn.Module, again: torch.nn.Module, drawn: Collection[str], free: Collection[str]
) -> frozenset[str]:
    """Of tensors that are `drawn`, by name: those of integers, if any of them is none of the `free` ones, which may be
    other numbers each on its own. Those of a byte are codes and flags, which stay free.

    None where the module from another seed, `again`, has other integers that are not among these.
    """
    mine, others = state_of(model), state_of(again)
    integers = {name for name in drawn if mine[name].dtype in DTYPES}
    if integers <= {*free} or not exchangeable(model, again):
        return frozenset()
    left = (name for name in mine if mine[name].dtype in DTYPES and name not in integers)
    if not all(same_bytes(mine[name], others[name]) for name in left):
        return frozenset()
    return frozenset(name for name in integers if name not in free or mine[name].itemsize > 1)


def exchangeable(model: torch.nn.Module, again: torch.nn.Module) -> bool:
    """Whether two modules differ in nothing but what tensors hold, so that the one could have the other's integers."""
    forms = [{name: (t.shape, t.dtype) for name, t in state_of(each).items()} for each in (model, again)]
    return forms[0] == forms[1] and alike_but_for_tensors(model, again)
