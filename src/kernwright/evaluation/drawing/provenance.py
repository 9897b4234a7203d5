"""How a generator made its inputs: which hang together, and of which any element might have come out otherwise.

Draws do not show all that a generator guarantees: no edge twice among few of many, no pair that is equal. How numbers
were made does. So functions of PyTorch that `get_inputs` calls are watched; what it makes in other ways is unknown.
"""

from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from .bounds import FILLS, Bounds, cast_bounds, drawn_bounds, moved_bounds
from .operations import (
    CASTS,
    DRAWS,
    ELEMENTWISE,
    JOINING,
    OF_DATA,
    OF_ITS_FORM,
    ORDERS,
    RESHAPED,
    is_turned,
    plain_name,
)

INDEPENDENT, SORTED, EXCHANGEABLE, UNKNOWN = "independent", "sorted", "exchangeable", "unknown"


@dataclass(frozen=True, slots=True)
class Origin:
    """Of a tensor."""

    sources: frozenset[int]
    """The draws that it was made of."""
    kind: str
    """`independent`: any element may be any number that was drawn, at any place; `sorted`: such ones, each line along
    the last axis in order; `exchangeable`: along one axis any order might as well have come; else `unknown`."""
    bounds: Bounds | None = None
    below: torch.Tensor | None = field(default=None, compare=False)
    """Of each place the number below which any might have come, from 0 on, where places differ in that; each on its
    own. The kind is `unknown` then."""


Origins = Sequence[Origin | None]
"""Of each argument."""


def kind_of(origins: Origins, number: int) -> str:
    """Of an argument; `unknown` where another one was made of the same draw."""
    own = origins[number]
    if own is None or any(own.sources & other.sources for n, other in enumerate(origins) if n != number and other):
        return UNKNOWN
    return own.kind


@dataclass(frozen=True, slots=True)
class _Call:
    """Of a function, before it changes anything."""

    name: str
    args: Sequence[Any]
    kwargs: dict[str, Any]
    origins: list[Origin | None]
    """Of the tensors among its arguments."""
    sizes: list[int]
    uneven: bool = field(default=False)
    """Whether one that no draw is known of holds different numbers, so that places differ."""
    turned: bool = False
    """Whether the first operand stood on the right."""

    @property
    def sources(self) -> frozenset[int]:
        return frozenset[int]().union(*(origin.sources for origin in self.origins if origin))

    @property
    def first(self) -> Origin | None:
        """Of the first argument, where it alone is known."""
        known = [origin for origin in self.origins if origin]
        leads = len(known) == 1 and len(self.args) > 0 and isinstance(self.args[0], torch.Tensor)
        return self.origins[0] if leads else None


class Provenance(TorchFunctionMode):
    """Watches the functions of PyTorch that are called while it is entered; `device`: on which tensors are made."""

    def __init__(self, device: str = "cpu") -> None:
        super().__init__()
        self._device = device
        self._left: list[torch.Tensor] | None = None
        """What the latest function left of the random generators, since one drew of them."""
        self._drawn_twice = False
        """Whether these were set after a draw, so that another may be the same."""
        self._said: dict[int, list[str]] = {}
        """Of each draw, the functions that it and what was made of it were given to, with plain arguments."""
        self._known: MutableMapping[torch.Tensor, Origin] = WeakIdKeyDictionary()
        self._draws = 0
        self._looked_at = frozenset[int]()
        """Draws of which Python itself saw numbers, and may have drawn again what it did not like."""

    def of(self, values: Sequence[Any]) -> list[Origin | None]:
        """Of each of these; None where it is no tensor, or was made of no draw that was seen."""
        found = [self._known.get(value) if isinstance(value, torch.Tensor) else None for value in values]
        return [
            replace(origin, kind=UNKNOWN, below=None)
            if origin is not None and (self._drawn_twice or origin.sources & self._looked_at)
            else origin
            for origin in found
        ]

    def said_of(self, values: Sequence[Any]) -> list[list[list[str]]]:
        """For each of these, what was done with the draws that it was made of, and between which numbers."""
        found = [self._known.get(value) if isinstance(value, torch.Tensor) else None for value in values]
        return [[self._said[source] for source in sorted(origin.sources)] if origin else [] for origin in found]

    @property
    def looked(self) -> bool:
        """Whether Python saw a number that was drawn."""
        return bool(self._looked_at)

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name, keywords = getattr(func, "__name__", ""), kwargs or {}
        before = self._generators()
        self._drawn_twice |= self._left is not None and not _alike(self._left, before)
        given = list(_tensors([*args, *keywords.values()]))
        changed = [*_tensors([keywords.get("out")]), *(given[:1] if _is_in_place(name) else ())]
        call = self._call(name, args, keywords, given)
        result = func(*args, **keywords)
        made = list(_tensors([result]))
        for each in changed:
            self._spoil(each)
        for index, each in enumerate([*made, *changed]):
            if (origin := self._origin(call, index, each)) is not None:
                self._known[each] = origin
        self._note(call, [*made, *changed])
        left = self._generators()
        if self._left is not None or not _alike(before, left):
            self._left = left
        if call.name in OF_DATA or (not made and not changed and name not in OF_ITS_FORM):
            self._looked_at |= call.sources
        return result

    def _call(self, name: str, args: Sequence[Any], kwargs: dict[str, Any], given: Sequence[torch.Tensor]) -> _Call:
        plain = "masked_fill" if _fills(name, args) else plain_name(name)
        if plain in DRAWS and given and (name.endswith("_like") or _is_in_place(name)):
            given = given[1:]  # it says the form alone
        origins = [self._known.get(each) for each in given]
        asked = plain in DRAWS | ORDERS or (plain in ELEMENTWISE and any(origins))
        uneven = asked and any(not o and not _is_uniform(each) for o, each in zip(origins, given, strict=True))
        return _Call(plain, args, kwargs, origins, [each.numel() for each in given], uneven, is_turned(name))

    def _generators(self) -> list[torch.Tensor]:
        states = [torch.default_generator.get_state()]
        return states if self._device == "cpu" else [*states, torch.get_device_module(self._device).get_rng_state()]

    def _note(self, call: _Call, made: Sequence[torch.Tensor]) -> None:
        sources = call.sources.union(*(origin.sources for each in made if (origin := self._known.get(each))))
        if sources:
            text = f"{call.name} {_words(call.args)} {_words([*call.kwargs.items()])}"
            for source in sources:
                self._said.setdefault(source, []).append(text)

    def _spoil(self, changed: torch.Tensor) -> None:
        """Of what lies in the same memory nobody knows any more what it is."""
        for each, origin in [*self._known.items()]:
            if each is not changed and (changed.layout != torch.strided or _memory(each) == _memory(changed)):
                self._known[each] = replace(origin, kind=UNKNOWN, below=None)

    def _origin(self, call: _Call, index: int, made: torch.Tensor) -> Origin | None:
        sources = call.sources
        if call.name in DRAWS | ORDERS:
            self._draws += 1
            drawn = Origin(sources | {self._draws}, INDEPENDENT, drawn_bounds(call.name, call.args, call.kwargs))
            if sources or call.uneven or call.kwargs.get("generator") is not None:
                return replace(drawn, kind=UNKNOWN)
            return replace(drawn, kind=EXCHANGEABLE) if call.name in ORDERS else drawn
        if not sources:
            return None
        apart = len(sources) == sum(len(origin.sources) for origin in call.origins if origin)
        combined = _combined(call, index, made) if apart else None
        return replace(combined, sources=sources) if combined else Origin(sources, UNKNOWN, below=_below(call, made))


def _alike(states: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> bool:
    return all(torch.equal(one, other) for one, other in zip(states, others, strict=True))


def _combined(call: _Call, index: int, made: torch.Tensor) -> Origin | None:
    """Of draws that have nothing in common; None where nothing is known of it."""
    if call.name in JOINING:
        bounds = {origin.bounds if origin and origin.kind == INDEPENDENT else None for origin in call.origins}
        return call.origins[0] if len(bounds) == 1 and None not in bounds else None
    if call.name in ELEMENTWISE:
        return _elementwise(call, made)
    first, name = call.first, call.name
    if first is None:
        return None
    if name in CASTS or name == made.device.type:
        cast = cast_bounds(first.bounds, call.args[0].dtype, made.dtype)
        return replace(first, bounds=cast, below=_below(call, made))
    if name == "getitem":
        return first if first.kind in (INDEPENDENT, EXCHANGEABLE) and _is_plain(call.args[1]) else None
    if name in RESHAPED and not any(isinstance(each, torch.dtype) for each in call.args):
        whole = first.kind == EXCHANGEABLE and call.args[0].dim() == 1
        return first if whole or first.kind == INDEPENDENT else None
    return _ordered(call, first, index, made) if first.kind == INDEPENDENT else None


def _below(call: _Call, made: torch.Tensor) -> torch.Tensor | None:
    """Of `rand` by numbers that were not drawn, one for each place, and of what is left of that without fractions."""
    if call.name == "mul" and len(call.args) == 2 and len(call.origins) == 2 and not call.kwargs:
        for origin, other, factor in zip(call.origins, call.origins[::-1], call.args[::-1], strict=True):
            drawn = origin is not None and (origin.kind, origin.bounds) == (INDEPENDENT, (0.0, 1.0))
            even = factor.shape == made.shape and {*call.sizes} == {made.numel()}
            if drawn and other is None and even and not factor.is_complex():
                known = bool(factor.isfinite().all() and (factor >= 0).all())
                return factor.double().clone() if known else None
    first = call.first
    if first is None or first.below is None or first.below.shape != made.shape:
        return None
    if call.name not in CASTS | {"floor", "trunc", made.device.type}:
        return None
    whole = made.dtype in (torch.int32, torch.int64)
    return first.below if whole or made.dtype == call.args[0].dtype else None


def _elementwise(call: _Call, made: torch.Tensor) -> Origin | None:
    """Where no place differs from another, and no number stands at several places."""
    known = [(origin, size) for origin, size in zip(call.origins, call.sizes, strict=True) if origin]
    kinds = {origin.kind for origin, _ in known}
    if call.uneven or any(size != made.numel() for _, size in known) or (call.name == "where" and len(call.args) < 3):
        return None
    if kinds == {EXCHANGEABLE} and len(known) == 1:
        return Origin(frozenset(), EXCHANGEABLE)
    if kinds != {INDEPENDENT}:
        return None
    origin = _filled(call) if call.name in FILLS else known[0][0]
    before = origin.bounds if origin else None
    bounds = moved_bounds(call.name, call.args, call.kwargs, before, made.dtype, turned=call.turned)
    return Origin(frozenset(), INDEPENDENT, bounds)


def _filled(call: _Call) -> Origin | None:
    """Of the numbers into which one more is put, by a mask that was drawn."""
    tensors = [each for each in call.args if isinstance(each, torch.Tensor)]
    others = [origin for each, origin in zip(tensors, call.origins, strict=False) if each.dtype != torch.bool]
    return others[0] if len(tensors) == 2 and len(others) == 1 and all(call.origins) else None


def _ordered(call: _Call, first: Origin, index: int, made: torch.Tensor) -> Origin | None:
    """What is in an order by numbers that were drawn each on its own, or says it."""
    value: torch.Tensor = call.args[0]
    axis = call.kwargs.get("dim", call.args[1] if len(call.args) > 1 else -1)
    if call.name == "sort" and index == 0:
        return replace(first, kind=SORTED) if axis in (-1, value.dim() - 1) else None
    rises = call.name == "argsort" or call.name == "sort"
    counts = call.name in ("bincount", "one_hot") and first.bounds == (0, made.shape[-1] if made.dim() else 0)
    # Of equal numbers, which are many among integers alone, the first often comes first.
    return Origin(frozenset(), EXCHANGEABLE) if (rises and value.is_floating_point()) or counts else None


def _is_plain(index: Any) -> bool:
    """Whether it takes no place twice, and none that hangs on data."""
    parts = index if isinstance(index, tuple) else (index,)
    numbers = [(p.start, p.stop, p.step) if isinstance(p, slice) else (p,) for p in parts]
    return all(each is None or each is ... or type(each) is int for part in numbers for each in part)


def _is_uniform(tensor: torch.Tensor) -> bool:
    if tensor.numel() <= 1:
        return True
    known = tensor.layout == torch.strided and not tensor.is_meta
    return known and bool((tensor == tensor[(0,) * tensor.dim()]).all())


def _memory(tensor: torch.Tensor) -> int | None:
    return tensor.untyped_storage()._cdata if tensor.layout == torch.strided else None


def _words(given: Any) -> str:
    """Plain arguments, and numbers that tensors hold alone."""
    if isinstance(given, torch.Tensor):
        alone = given.numel() == 1 and given.layout == torch.strided and not given.is_meta
        return repr(given.item()) if alone else "tensor"
    if isinstance(given, slice):
        return _words((given.start, given.stop, given.step))
    return f"({' '.join(map(_words, given))})" if isinstance(given, tuple | list) else repr(given)


def _tensors(values: Iterable[Any]) -> Iterable[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)
        elif isinstance(value, slice):
            yield from _tensors([value.start, value.stop, value.step])


def _fills(name: str, args: Sequence[Any]) -> bool:
    """Whether one number is written to the places of a mask."""
    if name != "__setitem__" or not all(isinstance(each, torch.Tensor) for each in args[:2]):
        return False
    value, mask, number = args
    return mask.dtype == torch.bool and mask.shape == value.shape and type(number) in (bool, int, float)


def _is_in_place(name: str) -> bool:
    if name == "__setitem__" or (name.endswith("_") and not name.startswith("_")):
        return True
    return name.startswith("__i") and name.strip("_")[1:] in ELEMENTWISE
