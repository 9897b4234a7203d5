"""Whether a reference calls a function that chooses among equal numbers, and is not told which.

Where none does, what it makes of equal numbers follows from what it says, on whatever places that hangs.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernwright.evaluation.problem.cases import Values
from kernwright.evaluation.problem.setting import Setting

CHOOSES = frozenset(
    """
    sort argsort argmax argmin topk kthvalue mode cummax cummin index_copy put embedding_bag
    _embedding_bag _embedding_bag_forward_only
    """.split()
)
"""Operators of PyTorch: which of equal numbers they name, or which of several they leave at a place, is not said."""
OF_A_LINE = frozenset({"max", "min", "median", "nanmedian"})
"""The same along an axis, where they name a place; of all numbers they give one."""

NAMES = frozenset({"sort", "topk"})
"""Operators whose second result names places, and of which PyTorch does not say which of equal numbers come first. Of
`argmax`, and of `max` along an axis, it says that the first one does."""
PYTORCH = frozenset({"aten", "prim", "prims"})


def chooses(setting: Setting, values: Values) -> bool:
    """Whether it does on its way from these values; what NumPy does, or an operator of its own, nobody knows."""
    if "numpy" in setting.reference.problem.source:
        return True
    watch = _Watch()
    with watch:
        setting.reference.outputs(setting.model, values)
    return watch.seen


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen = False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.seen = self.seen or may_choose(func, args, kwargs or {})
        return func(*args, **(kwargs or {}))


def arguments(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Of a call of an operator, by name, what is left to its default too."""
    known = {each.name: each.default_value for each in func._schema.arguments if each.has_default_value()}
    return known | dict(zip((each.name for each in func._schema.arguments), args, strict=False)) | kwargs


def names_places(func: Any, given: dict[str, Any]) -> bool:
    """Whether a call with these arguments names each place of a line once at the most; one that writes to given tensors
    is left alone."""
    known = func.namespace == "aten" and func.overloadpacket.__name__ in NAMES
    return known and "values" not in given and given["self"].dim() > 0


def may_choose(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether a call of an operator chooses among equal numbers, and is not told which."""
    name, overload = func.overloadpacket.__name__, func._overloadname
    plain = name.rstrip("_")
    if func.namespace not in PYTORCH:
        return True
    if "max_pool" in plain:
        return "indices" in plain or "adaptive" in plain or "fractional" in plain
    if plain in OF_A_LINE:
        return "dim" in overload
    if plain == "scatter":
        return "src" in overload and _come_together(*args[:3])
    if plain in ("index_put", "_index_put_impl"):
        return _writes_twice(*args, **kwargs)
    return plain in CHOOSES and not kwargs.get("stable")


def _writes_twice(
    value: torch.Tensor, indices: Sequence[Any], given: torch.Tensor, accumulate: bool = False, *_: Any, **__: Any
) -> bool:
    """Whether several numbers come to one place."""
    named = [(n, index) for n, index in enumerate(indices) if isinstance(index, torch.Tensor)]
    if accumulate or given.numel() < 2 or all(index.dtype == torch.bool for _, index in named):
        return False
    if any(index.dtype == torch.bool for _, index in named):
        return True  # how many places it stands for is not looked up
    place = torch.zeros((), dtype=torch.long, device=value.device)
    for n, index in named:
        place = place * value.shape[n] + index.to(value.device).long() % value.shape[n]
    ordered = place.flatten().sort().values
    return bool((ordered[1:] == ordered[:-1]).any())


def _come_together(value: torch.Tensor, dim: int, index: torch.Tensor) -> bool:
    """Whether a line of indices names a place twice."""
    if index.dim() == 0 or index.numel() == 0:
        return False
    ordered = index.sort(dim).values
    return bool((ordered.narrow(dim, 1, index.shape[dim] - 1) == ordered.narrow(dim, 0, index.shape[dim] - 1)).any())
