"""The reference once more, choosing otherwise among numbers that are exactly equal: the first of them, or the last.

Moved inputs show which choices are free where inputs are equal themselves. Where a function has saturated, as a softmax
to 0 and 1, what was equal stays so in them, and only a reference that chooses otherwise shows what another kernel may
give. A result is then compared as a whole: with one that chose like this throughout, so that who names a number twice,
or leaves one out, is like none.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernwright.evaluation.numbers import same_bytes
from kernwright.evaluation.problem.cases import Asked, Case, made_whole
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .choosing import arguments, names_places
from .comparison import Verdict
from .gross import is_bearable


def beside_any_choice(judge: Callable[[Case], Verdict], case: Case, setting: Setting) -> Verdict:
    """The verdict beside the case; where that fails, beside one that is `otherwise_chosen`, if such a one passes."""
    verdict = judge(case)
    if verdict.passed:
        return verdict
    return next(filter(_passed, map(judge, otherwise_chosen(case, setting))), verdict)


def _passed(verdict: Verdict) -> bool:
    return verdict.passed


def otherwise_chosen(case: Case, setting: Setting) -> Iterator[Case]:
    """The same values with what the reference makes of them where it takes the first of equal numbers, and the last.

    None of those that come out as they did, nor where the oracle, which chooses the same, is something else.
    """
    case = made_whole(case)
    if not isinstance(case, Asked) or case.altered:
        return
    for last in (False, True):
        choices = _Choices(last)
        other = where_possible(setting.reference, partial(_chosen, case, choices))
        if not choices.free:
            return
        if other is not None:
            yield other


@dataclass(slots=True)
class _Choices:
    """What a reference chooses on its way, of equal numbers the first or the `last`."""

    last: bool
    places: list[torch.Tensor] = field(default_factory=list)
    """Of each call in turn, as its result has them."""
    free: bool = False
    """Whether numbers were equal in any of these calls."""


def _chosen(case: Asked, choices: _Choices) -> Case | None:
    other = case.under(partial(_Choosing, choices))
    if [t.shape for t in other.native] != [t.shape for t in case.native]:
        return None
    if all(map(same_bytes, other.native, case.native)):
        return None
    return other if is_bearable(other.native, other.oracle) else None


class _Choosing(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Makes each choice anew, or as an earlier run of the same reference did: one in another precision, of which other
    numbers are equal, chooses as the first."""

    def __init__(self, choices: _Choices) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._choices, self._number = choices, 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = arguments(func, args, kwargs or {})
        result = func(*args, **(kwargs or {}))
        if not names_places(func, given) or given.get("stable"):
            return result
        value, dim, known = given["self"], given["dim"], self._choices.places
        if self._number == len(known):
            known.append(self._made(value, dim, bool(given.get("largest", given.get("descending"))), *result))
        places = known[self._number]
        self._number += 1
        if places.shape == result[1].shape:  # into what PyTorch made, on whose strides a view may rely
            result[1].copy_(places)
            result[0].copy_(value.gather(dim, places))
        return result

    def _made(
        self, value: torch.Tensor, dim: int, descending: bool, numbers: torch.Tensor, places: torch.Tensor
    ) -> torch.Tensor:
        """Places along the axis, where PyTorch chose these; its own where no numbers are equal, which is mostly so."""
        if not _leaves_a_choice(value, numbers, dim):
            return places.clone()
        self._choices.free = True
        if self._choices.last:
            ordered = value.shape[dim] - 1 - value.flip(dim).sort(dim=dim, descending=descending, stable=True).indices
        else:
            ordered = value.sort(dim=dim, descending=descending, stable=True).indices
        return ordered.narrow(dim, 0, places.shape[dim])


def _leaves_a_choice(value: torch.Tensor, numbers: torch.Tensor, dim: int) -> bool:
    """Whether of the `numbers` that were chosen along an axis some are equal, or one is equal to one that was not."""
    ordered = numbers.sort(dim=dim).values
    n = ordered.shape[dim]
    if n and bool((ordered.narrow(dim, 1, n - 1) == ordered.narrow(dim, 0, n - 1)).any()):
        return True
    if n in (0, value.shape[dim]):
        return False
    ends = (ordered.narrow(dim, place, 1) for place in (0, n - 1))
    return any(bool(((value == end).sum(dim) > 1).any()) for end in ends)
