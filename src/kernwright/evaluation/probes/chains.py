"""Graphs in which each place leads to one other, as square inputs, lists of edges or pointers: there every step of a
loop counts.

A graph of chance mixes its places in a few steps, so that closures, shortest paths and ranks are at their end long
before a reference has made all of its own. A chain through all places takes as many as there are.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernwright.evaluation.drawing.freedom import as_numbers
from kernwright.evaluation.errors.choices import compare_chosen
from kernwright.evaluation.errors.choosing import chooses
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.gross import is_bearable, merely_unstable
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.numbers import generator_for
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .probe import Probe, Way, tells

LABEL = "a chain"
LEAST = 8
"""Places of a chain; fewer are passed in as few steps as anybody takes."""
STEPS = 4
"""A loop does the same with tensors of the same shapes so many times at least."""


def chain_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Two: links of the largest number among the smallest, and the other way around."""
    numbers = [n for n in _square(base.values) if setting.alters(n, base.values[n])]
    if setting.lean or setting.reference.problem.backward or not numbers or not loops(setting, base):
        return []
    return [partial(_probe, setting, base, rng, numbers, far=far) for far in (False, True)]


def chained_integers(setting: Setting, base: Case, rng: random.Random) -> list[tuple[str, Callable[[], Values]]]:
    """The same, as labels and what makes values, of inputs of integers and truth values that may be any others; and of
    lists of edges, and of pointers each of which leads to an earlier place."""
    square = [n for n in _square(base.values) if n in setting.free and setting.free[n].loose]
    ends, pointers = _ends(setting, base), _pointers(setting, base)
    if not (square or ends or pointers) or not loops(setting, base):
        return []
    ways: list[tuple[str, Callable[[], Values]]] = []
    if square:
        ways += [(LABEL, partial(_chained, setting, base, rng, square, far=far)) for far in (False, True)]
    if pointers:
        ways.append((f"{LABEL} of pointers", partial(_followed, base, pointers)))
    return ways + ([(f"{LABEL} of edges", partial(_edges, base, rng, ends))] if ends else [])


def _pointers(setting: Setting, base: Case) -> dict[int, torch.Tensor]:
    """Lists of integers that point into themselves and were drawn each on its own, by number: of each place the last
    one before it, or itself, that it may lead to. Parents in a random tree are such."""
    origins, found = setting.reference.origins(setting.workload), dict[int, torch.Tensor]()
    for n, origin in enumerate(origins):
        if origin is None or origin.below is None or origin.below.dim() != 1 or origin.below.numel() < LEAST:
            continue
        shared = any(origin.sources & other.sources for m, other in enumerate(origins) if m != n and other)
        value: torch.Tensor = base.values[n]
        before = torch.arange(-1, len(value) - 1, device=value.device)
        last = (origin.below.to(value.device).ceil().long() - 1).minimum(before).clamp(min=0)
        inside = bool((origin.below <= len(value)).all())
        if not shared and inside and not value.is_floating_point() and value.shape == last.shape:
            found[n] = last
    return found


def _followed(base: Case, pointers: dict[int, torch.Tensor]) -> Values:
    """Each place leads to the one before it, as far as that might have been drawn."""
    values: Values = list(base.values)
    for number, last in pointers.items():
        values[number] = last.to(values[number].dtype)
    return values


def _ends(setting: Setting, base: Case) -> list[tuple[int, tuple[int, int]]]:
    """Inputs, by number, with their bounds, that may be where edges begin, and where they end: the first two of one
    shape that draw from the same integers, or one of two lines."""
    origins, found = setting.reference.origins(setting.workload), list[tuple[int, tuple[int, int]]]()
    for n, freedom in setting.free.items():
        bounds = origin.bounds if (origin := origins[n]) else None
        if freedom.loose and bounds and base.values[n].dtype != torch.bool and bounds[1] - bounds[0] >= LEAST:
            found.append((n, (int(bounds[0]), int(bounds[1]))))
    for n, bounds in found:
        if base.values[n].dim() == 2 and base.values[n].shape[0] == 2:
            return [(n, bounds)]
        like = [(m, b) for m, b in found if m > n and b == bounds and base.values[m].shape == base.values[n].shape]
        if like and base.values[n].dim() == 1:
            return [(n, bounds), like[0]]
    return []


def _edges(base: Case, rng: random.Random, ends: Sequence[tuple[int, tuple[int, int]]]) -> Values:
    """A chain through all nodes, or as many as there are edges for, in an order of chance; then the same once more."""
    values: Values = list(base.values)
    first, (low, high) = values[ends[0][0]], ends[0][1]
    count = first.shape[-1]
    nodes = torch.randperm(high - low, generator=generator_for(first, rng), device=first.device)[: count + 1]
    at = torch.arange(count, device=first.device) % (len(nodes) - 1)
    chain = (torch.stack([nodes[at], nodes[at + 1]]) + low).to(first.dtype)
    for (number, _), line in zip(ends, chain if len(ends) > 1 else [chain], strict=True):
        values[number] = line
    return values


def _square(values: Sequence[Any]) -> list[int]:
    square = [n for n, v in enumerate(values) if isinstance(v, torch.Tensor) and v.dim() > 1]
    return [n for n in square if values[n].shape[-1] == values[n].shape[-2] >= LEAST and not values[n].is_complex()]


def _chained(setting: Setting, base: Case, rng: random.Random, numbers: Sequence[int], *, far: bool) -> Values:
    values: Values = list(base.values)
    for number in numbers:
        values[number] = chained(values[number], rng, far=far)
    return setting.kept(values, base.values)


def chained(value: torch.Tensor, rng: random.Random, *, far: bool) -> torch.Tensor:
    """One chain through all places, in an order of chance, the same for every matrix of a batch.

    Its links are the number of the input that is largest by its size, and all else the smallest; the other way around
    where what is `far` is not linked.
    """
    flat = value.flatten()
    sizes = as_numbers(value).flatten().abs()
    least, most = flat[sizes.argmin()], flat[sizes.argmax()]
    rest, link = (most, least) if far else (least, most)
    order = torch.randperm(value.shape[-1], generator=generator_for(value, rng), device=value.device)
    made = rest.expand(value.shape).contiguous()
    made[..., order[:-1], order[1:]] = link
    return made


def _probe(setting: Setting, base: Case, rng: random.Random, numbers: Sequence[int], *, far: bool) -> Probe | None:
    values = _chained(setting, base, rng, numbers, far=far)
    if hides_nan(setting, values) or chooses(setting, values):  # nearly all numbers are equal
        return None
    case = setting.case(values, LABEL, base.seed)
    if not tells(setting, case.native) or not is_bearable(case.native, case.oracle):
        return None

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        verdict = compare_chosen(outputs, case, setting)
        if not verdict.passed and merely_unstable(outputs, case.native, case.oracle):
            return Verdict(passed=True, ratio=1.0)
        return verdict

    return Probe(case, judge)


def loops(setting: Setting, base: Case) -> bool:
    """Whether the reference does the same again and again; found out once for each workload."""
    watch = _Steps()

    def watched() -> bool:
        with watch:
            setting.reference.outputs(setting.model, base.values)
        return max(watch.steps.values(), default=0) >= STEPS

    return setting.reference.known.once(
        setting.workload, "loops", lambda: where_possible(setting.reference, watched) or False
    )


class _Steps(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """How often each operator met tensors of the same shapes, but for such as only look at one in another way."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.steps = Counter[tuple[Any, ...]]()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        shapes = tuple(tuple(arg.shape) for arg in args if isinstance(arg, torch.Tensor))
        if any(map(len, shapes)) and not getattr(func, "is_view", False):
            self.steps[(func, shapes)] += 1
        return func(*args, **(kwargs or {}))
