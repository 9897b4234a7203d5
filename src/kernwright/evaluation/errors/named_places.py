"""Results that are the places which a `sort` or a `topk` of the reference names.

Which of equal numbers comes first is anybody's choice, and where it decides, results are not compared number by number.
They name each place once all the same, and places of numbers like those that were chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernwright.evaluation.problem.cases import Asked, Case, made_whole
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .choices import near
from .choosing import arguments, may_choose, names_places
from .comparison import Verdict

COPIES = frozenset({"_to_copy", "clone", "copy"})
"""The same numbers in another type or layout."""


@dataclass(frozen=True, slots=True)
class _Named:
    """What such an operator gave: of a line of this `length` along `dim` some numbers, and their places in it."""

    length: int
    dim: int
    numbers: torch.Tensor
    places: torch.Tensor
    given: torch.Tensor | None
    """What it read, where that was an input as it is: what it named did not hang on rounding, nor another choice."""


@dataclass(frozen=True, slots=True)
class _Names:
    """An output of the reference that is such places."""

    source: _Named
    at: torch.Tensor
    """For each element the one of `source.places`, these counted in their own order."""


def with_places(verdict: Verdict, outputs: Sequence[torch.Tensor], case: Case, setting: Setting) -> Verdict:
    """The verdict of another rule on these outputs; where it passes them, none of them may name a place twice in a
    line, nor that of another number than was chosen.

    Nothing is asked where numbers are infinite or missing, nor of an output that is the reference's own.
    """
    if not verdict.passed:
        return verdict
    case = made_whole(case)
    odd = [n for n, (got, own) in enumerate(zip(outputs, case.native, strict=False)) if _other_integers(got, own)]
    if not odd or not isinstance(case, Asked) or not _ever(setting):
        return verdict
    named = where_possible(setting.reference, partial(_named, case)) or []
    for number in odd:
        source = named[number] if number < len(named) else None
        if source is not None and (fault := _fault(outputs[number].long(), source)):
            return Verdict(passed=False, ratio=float("inf"), detail=f"{setting.names[number]}: {fault}")
    return verdict


def _other_integers(got: torch.Tensor, own: torch.Tensor) -> bool:
    whole = not (own.is_floating_point() or own.is_complex()) and own.dtype != torch.bool
    return whole and got.shape == own.shape and not torch.equal(got, own)


def _ever(setting: Setting) -> bool:
    """Whether any output of a workload names places; found out once for each."""

    def found() -> bool:
        base = setting.bases[0]
        names = where_possible(setting.reference, partial(_named, base)) if isinstance(base, Asked) else None
        return any(each is not None for each in names or [])

    return setting.reference.known.once(setting.workload, "names places", found)


def _named(case: Asked) -> list[_Names | None]:
    """For each output of the reference, whose places it is."""
    watch = _Watch([v for v in case.values if isinstance(v, torch.Tensor)])
    return [watch.names(output) for output in case.under(lambda: watch).native]


def _fault(got: torch.Tensor, names: _Names) -> str:
    """What is wrong with an output; empty where nothing is."""
    source, at = names.source, names.at.flatten()
    length, line = source.length, _lines(source)[at]
    finite = source.numbers.contiguous().flatten()[at].double().isfinite()
    line, at, place = line[finite], at[finite], got.flatten()[finite]
    if not place.numel():
        return ""
    if bool(((place < 0) | (place >= length)).any()):
        return f"it names places from {int(place.min())} to {int(place.max())}, of lines of {length}"
    ordered, order = (line * length + place).sort()
    if bool((twice := ordered[1:] == ordered[:-1]).any()):
        name = int(place[order[1:][twice][0]])
        return (
            f"it names the place {name} twice in a line of which the reference names each once ({int(twice.sum())} so)"
        )
    if source.given is None:
        return ""
    values = source.given.movedim(source.dim, -1).reshape(-1)
    like = near(source.numbers.contiguous().flatten()[at], values[line * length + place])
    if bool(like.all()):
        return ""
    first = int((~like).nonzero()[0])
    return (
        f"it names the place of {float(values[(line * length + place)[first]]):g} where the reference chooses "
        f"{float(source.numbers.contiguous().flatten()[at[first]]):g} ({int((~like).sum())} so)"
    )


def _lines(source: _Named) -> torch.Tensor:
    """The number of the line that each of its places, in their own order, belongs to."""
    shape, dim = list(source.places.shape), source.dim
    others = shape[:dim] + shape[dim + 1 :]
    lines = torch.arange(int(torch.tensor(others).prod()) if others else 1, device=source.places.device)
    return lines.view(others).unsqueeze(dim).expand(shape).flatten()


@dataclass(slots=True)
class _Labels:
    """Which place each element of a tensor's memory is."""

    source: _Named
    at: torch.Tensor
    """By the element's place in memory; -1 where there is none."""
    holds: torch.Tensor
    """Keeps the memory from being another's."""

    def of(self, view: torch.Tensor) -> torch.Tensor:
        return self.at.as_strided(view.shape, view.stride(), view.storage_offset())


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Follows what names places to where it goes unaltered."""

    def __init__(self, inputs: Sequence[torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._inputs = {_memory(each) for each in inputs}
        self._labels: dict[int, _Labels] = {}
        self._chose = False

    def names(self, output: torch.Tensor) -> _Names | None:
        """Whose places an output is; None where it is none's, or was written to since."""
        labels = self._labels.get(_memory(output))
        if labels is None or not output.numel():
            return None
        at = labels.of(output)
        ordered = at.flatten().sort().values
        if ordered[0] < 0 or bool((ordered[1:] == ordered[:-1]).any()):
            return None
        same = torch.equal(labels.source.places.contiguous().flatten()[at].to(output.dtype), output)
        return _Names(labels.source, at) if same else None

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given, result = arguments(func, args, kwargs or {}), func(*args, **(kwargs or {}))
        names = names_places(func, given)
        if names:
            self._note(given["self"], given["dim"], *result)
        elif (
            func.namespace == "aten"
            and func.overloadpacket.__name__ in COPIES
            and isinstance(result, torch.Tensor)
            and isinstance(args[0], torch.Tensor)
        ):
            self._follow(args[0], result)
        self._chose = self._chose or names or may_choose(func, args, kwargs or {})
        return result

    def _note(self, value: torch.Tensor, dim: int, numbers: torch.Tensor, places: torch.Tensor) -> None:
        given = value if not self._chose and _memory(value) in self._inputs else None
        dim %= value.dim()
        kept = _Named(value.shape[dim], dim, numbers.clone(), places.clone(), given)
        at = torch.arange(places.numel(), device=places.device).view(places.shape)
        self._labels[_memory(places)] = _laid_out(kept, at, places)

    def _follow(self, one: torch.Tensor, other: torch.Tensor) -> None:
        labels = self._labels.get(_memory(one))
        if labels is not None and one.shape == other.shape and _memory(one) != _memory(other):
            self._labels[_memory(other)] = _laid_out(labels.source, labels.of(one), other)


def _laid_out(source: _Named, at: torch.Tensor, tensor: torch.Tensor) -> _Labels:
    """As the tensor lies in memory."""
    room = tensor.untyped_storage().nbytes() // tensor.element_size()
    labels = _Labels(source, torch.full((room,), -1, device=tensor.device), tensor)
    labels.of(tensor).copy_(at)
    return labels


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
