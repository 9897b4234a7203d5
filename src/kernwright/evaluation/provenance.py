"""How a generator made its inputs: which hang together, and of which any element might have come out otherwise.

Draws do not show all that a generator guarantees: no edge twice among few of many, no pair that is equal. How numbers
were made does. So functions of PyTorch that `get_inputs` calls are watched; what it makes in other ways is unknown.
"""

from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

DRAWS = frozenset(
    "rand rand_like randint randint_like randn randn_like bernoulli normal poisson random uniform exponential".split()
)
ORDERS = frozenset({"randperm", "multinomial"})
"""Draw a thing once, in any order."""
SHAPED = frozenset(
    "to type int long short char byte view reshape flatten unsqueeze squeeze contiguous clone detach".split()
)
ELEMENTWISE = SHAPED | frozenset(
    """
    add sub mul div truediv floordiv floor_divide true_divide remainder mod fmod pow neg abs sign square sqrt exp log
    floor ceil round trunc clamp clip gt ge lt le eq ne and or xor invert bitwise_and bitwise_or bitwise_xor bitwise_not
    logical_and logical_or logical_xor logical_not where masked_fill minimum maximum bool float double half bfloat16
    """.split()
)
INDEPENDENT, SORTED, EXCHANGEABLE, UNKNOWN = "independent", "sorted", "exchangeable", "unknown"
OF_ITS_FORM = frozenset(
    "__get__ __len__ __repr__ size dim ndimension numel nelement stride storage_offset element_size get_device".split()
)
"""What is asked of a tensor that is none of its numbers."""
JOINING = frozenset({"cat", "concat", "stack", "hstack", "vstack"})


@dataclass(frozen=True, slots=True)
class Origin:
    """Of a tensor."""

    sources: frozenset[int]
    """The draws that it was made of."""
    kind: str
    """`independent`: any element may be any number that was drawn at its place; `sorted`: such ones in order;
    `exchangeable`: any order of them might as well have come; else `unknown`."""
    bounds: tuple[int, int] | None = None
    """The least integer that each element may be, and the first that is too large, where integers were drawn."""


Origins = Sequence[Origin | None]
"""Of each argument."""


def kind_of(origins: Origins, number: int) -> str:
    """Of an argument; `unknown` where another one was made of the same draw."""
    own = origins[number]
    if own is None or any(own.sources & other.sources for n, other in enumerate(origins) if n != number and other):
        return UNKNOWN
    return own.kind


class Provenance(TorchFunctionMode):
    """Watches the functions of PyTorch that are called while it is entered."""

    def __init__(self) -> None:
        super().__init__()
        self._known: MutableMapping[torch.Tensor, Origin] = WeakIdKeyDictionary()
        self._draws = 0
        self._looked_at = frozenset[int]()
        """Draws of which Python itself saw numbers, and may have drawn again what it did not like."""

    def of(self, values: Sequence[Any]) -> list[Origin | None]:
        """Of each of these; None where it is no tensor, or was made of no draw that was seen."""
        found = [self._known.get(value) if isinstance(value, torch.Tensor) else None for value in values]
        return [
            replace(origin, kind=UNKNOWN) if origin is not None and origin.sources & self._looked_at else origin
            for origin in found
        ]

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name, keywords = getattr(func, "__name__", ""), kwargs or {}
        given = list(_tensors([*args, *keywords.values()]))
        known = [(each.numel(), origin) for each in given if (origin := self._known.get(each)) is not None]
        result = func(*args, **keywords)
        made, changed = list(_tensors([result])), given[:1] if _is_in_place(name) else []
        for each in changed:
            self._spoil(each)
        for index, each in enumerate([*made, *changed]):
            if (origin := self._origin(_plain(name), index, each, known, (args, keywords))) is not None:
                self._known[each] = origin
        if not made and not changed and name not in OF_ITS_FORM:
            self._looked_at |= _sources(known)
        return result

    def _spoil(self, changed: torch.Tensor) -> None:
        """Of what lies in the same memory nobody knows any more what it is."""
        for each, origin in [*self._known.items()]:
            if each is not changed and (changed.layout != torch.strided or _memory(each) == _memory(changed)):
                self._known[each] = replace(origin, kind=UNKNOWN)

    def _origin(
        self,
        name: str,
        index: int,
        made: torch.Tensor,
        known: Sequence[tuple[int, Origin]],
        call: tuple[Sequence[Any], dict[str, Any]],
    ) -> Origin | None:
        by_another = known and name in ("normal", "bernoulli", "poisson")
        if name in DRAWS and not by_another:
            self._draws += 1
            return Origin(frozenset({self._draws}), INDEPENDENT, _bounds(name, *call))
        if name in ORDERS and not known:
            self._draws += 1
            return Origin(frozenset({self._draws}), EXCHANGEABLE)
        if not known:
            return None
        sources = _sources(known)
        apart = len(sources) == sum(len(origin.sources) for _, origin in known)
        return replace(_combined(name, index, made, known, call[0]), sources=sources) if apart else _unknown(sources)


def _memory(tensor: torch.Tensor) -> int | None:
    return tensor.untyped_storage()._cdata if tensor.layout == torch.strided else None


def _sources(known: Sequence[tuple[int, Origin]]) -> frozenset[int]:
    return frozenset[int]().union(*(origin.sources for _, origin in known))


def _unknown(sources: frozenset[int] = frozenset()) -> Origin:
    return Origin(sources, UNKNOWN)


def _combined(
    name: str, index: int, made: torch.Tensor, known: Sequence[tuple[int, Origin]], args: Sequence[Any]
) -> Origin:
    """Of draws that have nothing in common."""
    first, kinds = known[0][1], {origin.kind for _, origin in known}
    independent = Origin(frozenset(), INDEPENDENT) if kinds == {INDEPENDENT} else _unknown()
    if name in JOINING:
        return independent
    if name in ELEMENTWISE - SHAPED and any(count == made.numel() for count, _ in known):
        whole = len(known) == 1 and first.kind == EXCHANGEABLE
        return Origin(frozenset(), EXCHANGEABLE) if whole else independent
    if len(known) > 1 or first.kind not in (INDEPENDENT, EXCHANGEABLE, SORTED):
        return _unknown()
    if name in SHAPED or name == made.device.type:
        return first
    if name == "getitem" and not any(isinstance(each, torch.Tensor) for each in args[1:]):
        return first if first.kind != SORTED else _unknown()
    if name == "sort" and first.kind == INDEPENDENT:
        return Origin(frozenset(), EXCHANGEABLE) if index else replace(first, kind=SORTED)
    ordered = name in ("argsort", "bincount", "one_hot") and first.kind == INDEPENDENT
    return Origin(frozenset(), EXCHANGEABLE) if ordered else _unknown()


def _tensors(values: Iterable[Any]) -> Iterable[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


def _is_in_place(name: str) -> bool:
    plain = name.strip("_")
    return (
        name == "__setitem__"
        or (name.endswith("_") and not name.startswith("_"))
        or (name.startswith("__i") and plain[1:] in ELEMENTWISE)
    )


def _plain(name: str) -> str:
    """Without what says that it is in place, or has its operands turned."""
    plain = name.strip("_")
    turned = name.startswith("__") and plain[:1] in ("i", "r") and plain[1:] in ELEMENTWISE
    return plain[1:] if turned else plain


def _bounds(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[int, int] | None:
    if name not in ("randint", "randint_like"):
        return None
    numbers = [a for a in args if isinstance(a, int)]
    low, high = kwargs.get("low", 0), kwargs.get("high")
    if high is None:
        low, high = (low, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1]) if numbers else (low, None)
    return (int(low), int(high)) if isinstance(low, int) and isinstance(high, int) else None
