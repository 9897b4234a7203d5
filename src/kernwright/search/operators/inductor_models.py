"""The reference as PyTorch objects, and its tensors as facts for the candidate's text."""

import inspect
import random
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .inductor_file import Refused, State

EMBEDDED_BYTES = 8 << 10
"""Constants up to this size are written into the text."""


@dataclass(slots=True)
class Model:
    """The reference, made for one workload; its tensors may be fake."""

    key: str
    """`repr` of the list of the constructor's arguments."""
    module: torch.nn.Module
    inputs: list[Any]


def make_model(order: Mapping[str, Any], params: Mapping[str, Any], seed: int = 0, *, inputs: bool = True) -> Model:
    """Execute the problem's source anew; its random numbers depend on the seed alone.

    Where the order names a dtype, module and inputs of floating point are cast to it.

    Raises:
        Refused: the entry is no module. Whatever the problem's code raises comes through.
    """
    module = types.ModuleType("kernwright_problem")
    sys.modules[module.__name__] = module
    torch.manual_seed(seed)
    random.seed(seed)
    exec(compile(order["source"], "<problem>", "exec"), module.__dict__)
    init = list(_given(getattr(module, "get_init_inputs", list), params))
    model = getattr(module, order["entry"])(*init).eval()
    if not isinstance(model, torch.nn.Module):
        raise Refused(f"{order['entry']} is no torch.nn.Module")
    given = list(_given(module.get_inputs, params)) if inputs else []
    if order["dtype"]:
        dtype = getattr(torch, order["dtype"])
        _cast(model, dtype)
        given = pytree.tree_map_only(torch.Tensor, lambda x: x.to(dtype) if x.is_floating_point() else x, given)
    return Model(key=repr(init), module=model, inputs=given)


def _cast(module: torch.nn.Module, dtype: torch.dtype) -> None:
    """`module.to(dtype)`, which PyTorch refuses for fake tensors."""
    cast: dict[int, torch.Tensor] = {}
    for owner in module.modules():
        for name, weight in owner._parameters.items():
            if weight is not None and weight.is_floating_point():
                made = cast.get(id(weight))
                if made is None:
                    made = cast[id(weight)] = torch.nn.Parameter(weight.detach().to(dtype), weight.requires_grad)
                owner.register_parameter(name, made)  # type: ignore[arg-type]
        for name, tensor in owner._buffers.items():
            if tensor is not None and tensor.is_floating_point():
                owner._buffers[name] = cast.setdefault(id(tensor), tensor.to(dtype))


def _given(function: Callable[..., Any], params: Mapping[str, Any]) -> Any:
    if function is list:
        return []
    accepted = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in accepted.values()):
        return function(**params)
    return function(**{name: value for name, value in params.items() if name in accepted})


def states_of(module: torch.nn.Module, again: torch.nn.Module | None) -> list[State]:
    """Parameters and buffers in the module's own order.

    `again` is the same module from another seed: a buffer that is equal in both is written with its values. Without
    it no values are written.
    """
    states = []
    first: dict[int, str] = {}
    for name, weight in module.named_parameters(remove_duplicate=False):
        kind = "parameter" if weight.requires_grad else "frozen"
        states.append(state_of(name, weight, kind, same=first.setdefault(id(weight), name)))
    other = dict(again.named_buffers(remove_duplicate=False)) if again is not None else {}
    for name, tensor in module.named_buffers(remove_duplicate=False):
        owner, _, leaf = name.rpartition(".")
        kind = "unsaved" if leaf in module.get_submodule(owner)._non_persistent_buffers_set else "buffer"
        fixed = name in other and tensor.nbytes <= EMBEDDED_BYTES and torch.equal(tensor, other[name])
        same = first.setdefault(id(tensor), name)
        states.append(state_of(name, tensor, kind, same=same, value=tensor if fixed else None))
    return states


def state_of(
    name: str, tensor: torch.Tensor, kind: str, same: str | None = None, value: torch.Tensor | None = None
) -> State:
    """One tensor as a fact; `value`, where given, has real bytes."""
    data = None
    if value is not None and value.numel():
        flat = value.detach().contiguous().reshape(-1).view(torch.uint8)
        data = bytes(flat.tolist()).hex()
    return State(
        name=name,
        kind=kind,
        dtype=str(tensor.dtype),
        shape=tuple(tensor.shape),
        stride=tuple(tensor.stride()),
        same=None if same == name else same,
        data=data,
    )


class Constants:
    """Tensors that are neither parameters nor buffers, each kept once, by the name that it has in the file."""

    def __init__(self) -> None:
        self._kept: dict[str, torch.Tensor] = {}

    def keep(self, tensor: torch.Tensor) -> str:
        """The name of this value.

        Raises:
            Refused: it is too large to be written down.
        """
        if tensor.nbytes > EMBEDDED_BYTES:
            raise Refused(
                f"the module holds a tensor of {tensor.numel()} elements that is neither parameter nor buffer"
            )
        for name, known in self._kept.items():
            if known.dtype == tensor.dtype and torch.equal(known, tensor):
                return name
        name = f"constant.{len(self._kept)}"
        self._kept[name] = tensor.detach().clone()
        return name

    def states(self) -> list[State]:
        """As facts, with their values."""
        return [state_of(name, tensor, "buffer", value=tensor) for name, tensor in self._kept.items()]
