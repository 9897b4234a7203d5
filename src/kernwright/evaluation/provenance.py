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
    "to type int long short char byte view reshape flatten unsqueeze squeeze contiguous clone detach cpu cuda".split()
)
ELEMENTWISE = SHAPED | frozenset(
    """
    add sub mul div truediv floordiv floor_divide true_divide remainder mod fmod pow neg abs sign square sqrt exp log
    floor ceil round trunc clamp clip gt ge lt le eq ne and or xor invert bitwise_and bitwise_or bitwise_xor bitwise_not
    logical_and logical_or logical_xor logical_not where masked_fill minimum maximum bool float double half bfloat16
    """.split()
)
INDEPENDENT, SORTED, EXCHANGEABLE, UNKNOWN = "independent", "sorted", "exchangeable", "unknown"
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

    def of(self, values: Sequence[Any]) -> list[Origin | None]:
        """Of each of these; None where it is no tensor, or was made of no draw that was seen."""
        return [self._known.get(value) if isinstance(value, torch.Tensor) else None for value in values]

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name, keywords = getattr(func, "__name__", ""), kwargs or {}
        given = list(_tensors([*args, *keywords.values()]))
        origins = {id(each): self._known.get(each) for each in given}
        result = func(*args, **keywords)
        changed = given[:1] if _is_in_place(name) else []
        for index, made in enumerate([*_tensors([result]), *changed]):
            origin = self._origin(_plain(name), index, made, given, origins, (args, keywords))
            if origin is not None:
                self._known[made] = origin
        return result

    def _origin(
        self,
        name: str,
        index: int,
        made: torch.Tensor,
        given: Sequence[torch.Tensor],
        origins: dict[int, Origin | None],
        call: tuple[Sequence[Any], dict[str, Any]],
    ) -> Origin | None:
        known = [origin for each in given if (origin := origins[id(each)]) is not None]
        if name in DRAWS and not (name in ("normal", "bernoulli", "poisson") and known):
            self._draws += 1
            return Origin(frozenset({self._draws}), INDEPENDENT, _bounds(name, *call))
        if name in ORDERS and not known:
            self._draws += 1
            return Origin(frozenset({self._draws}), EXCHANGEABLE)
        if not known:
            return None
        sources = frozenset[int]().union(*(origin.sources for origin in known))
        apart = len(sources) == sum(len(origin.sources) for origin in known)
        return (
            replace(_combined(name, index, made, given, origins, call[0]), sources=sources)
            if apart
            else (Origin(sources, UNKNOWN))
        )


def _combined(
    name: str,
    index: int,
    made: torch.Tensor,
    given: Sequence[torch.Tensor],
    origins: dict[int, Origin | None],
    args: Sequence[Any],
) -> Origin:
    """Of draws that have nothing in common."""
    known = [(each.numel(), origin) for each in given if (origin := origins[id(each)]) is not None]
    first, kinds = known[0][1], {origin.kind for _, origin in known}
    if name in SHAPED and len(known) == 1:
        return first
    if name in ELEMENTWISE and kinds == {INDEPENDENT} and any(count == made.numel() for count, _ in known):
        return Origin(frozenset(), INDEPENDENT)
    if name in ELEMENTWISE and len(known) == 1 and first.kind == EXCHANGEABLE and made.numel() == known[0][0]:
        return Origin(frozenset(), EXCHANGEABLE)
    if name in JOINING and kinds == {INDEPENDENT}:
        return Origin(frozenset(), INDEPENDENT)
    if name == "getitem" and len(known) == 1 and not any(isinstance(a, torch.Tensor) for a in args[1:]):
        return first if first.kind in (INDEPENDENT, EXCHANGEABLE) else Origin(frozenset(), UNKNOWN)
    if first.kind == INDEPENDENT and len(known) == 1:
        if name == "sort":
            return Origin(frozenset(), EXCHANGEABLE) if index else replace(first, kind=SORTED)
        if name in ("argsort", "bincount", "one_hot"):
            return Origin(frozenset(), EXCHANGEABLE)
    return Origin(frozenset(), UNKNOWN)


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
