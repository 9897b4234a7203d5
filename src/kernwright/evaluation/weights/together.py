"""Integers of a module that belong together, as starts, lengths and places do: those of one seed and no others."""

from collections.abc import Collection
from dataclasses import dataclass

import torch

from kernwright.evaluation.drawing.freedom import DTYPES
from kernwright.evaluation.numbers import same_bytes
from kernwright.evaluation.runner.plain import lies_in_memory, plain_tensors

from .likeness import alike
from .state import state_of


@dataclass(frozen=True, slots=True)
class Bound:
    """Tensors of integers that are not other ones each on its own, by name."""

    together: frozenset[str] = frozenset()
    """Those that change all at once, to those of another seed."""
    left: frozenset[str] = frozenset()
    """Those that do not change: from another seed the module is another one in more than what its tensors hold."""


def bound(
    model: torch.nn.Module,
    again: torch.nn.Module,
    drawn: Collection[str],
    free: Collection[str],
    passing: Collection[str] = (),
) -> Bound:
    """Of tensors that are `drawn`, where any of integers is none of the `free` ones, which draws show to be other
    numbers each on its own, or hangs with what no tensor holds. Free integers of a byte are codes, which stay free.

    Both modules have been called: what they make by then belongs to them, but for what is `passing`, which each call
    changes.
    """
    mine, others = state_of(model), state_of(again)
    integers = {name for name in drawn if mine[name].dtype in DTYPES and not same_bytes(mine[name], others[name])}
    wide = frozenset(n for n in integers if n not in free or mine[n].dtype == torch.bool or mine[n].itemsize > 1)
    if integers <= {*free} and alike(model, again, unknown=True) and _same_beside(model, again):
        return Bound()
    hidden = [name for name in mine if mine[name].dtype in DTYPES and name not in {*integers, *passing}]
    if exchangeable(model, again) and all(same_bytes(mine[name], others[name]) for name in hidden):
        return Bound(together=wide)
    return Bound(left=wide)


def exchangeable(model: torch.nn.Module, again: torch.nn.Module) -> bool:
    """Whether two modules differ in nothing but what weights hold, so that the one could have the other's integers."""
    forms = [{name: (t.shape, t.dtype) for name, t in state_of(each).items()} for each in (model, again)]
    return forms[0] == forms[1] and _same_beside(model, again) and alike(model, again, unknown=False)


def _same_beside(model: torch.nn.Module, again: torch.nn.Module) -> bool:
    """Whether tensors that are no weights are the same; of sparse ones and their like nobody looks."""
    if not all(map(lies_in_memory, (*model.parameters(), *model.buffers()))):
        return False
    mine, others, weights = plain_tensors(model), plain_tensors(again), state_of(model)
    return mine.keys() == others.keys() and all(
        name in weights or _same(tensor, others[name]) for name, tensor in mine.items()
    )


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return (one.shape, one.dtype) == (other.shape, other.dtype) and same_bytes(one, other)
