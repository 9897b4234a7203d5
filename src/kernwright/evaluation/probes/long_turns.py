"""A few numbers of every size up to a million million times the usual, of which a reference takes whole turns away.

What is left of a number when whole multiples of another are taken away is exact, however many there are; who counts
these in a float is right for as long as a float holds their number. Numbers that `fmod` sees as an input holds them are
tried: of others the reference does not know its answer. Where it does not, which float64 tells, nothing is asked.
Nor is it of remainders of such numbers, which what `torch.compile` makes for processors loses, and of sines, of which
kernels may have approximations.
"""

import ast
import random
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from kernwright.evaluation.errors.choices import compare_chosen, near, settled
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.gross import merely_unstable
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.numbers import generator_for, is_number, told
from kernwright.evaluation.problem.cases import Case, Ready, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible
from kernwright.evaluation.problem.spelled import outside_generators

from .probe import Probe, Way, all_finite

LABEL = "numbers of many turns"
TURNING = "fmod"
LARGEST, SHARE = 40, 1 / 64
"""The largest is two to this power times the usual; and share of an input's places, one at least."""
UNSURE = 0.01
"""Share of the results that change, of which the reference may not be sure, for the others to be asked for."""
GROWN = 4.0
"""A result that becomes so many times as large holds more than what is left of the turns."""


def long_turn_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """One, of references whose source names it, and of which there is a wider one to tell what is sure."""
    backward = setting.reference.problem.backward
    if setting.lean or backward or setting.double is None or not _turns(setting.reference.problem.source):
        return []
    return [partial(_probe, setting, base, rng)]


@lru_cache(maxsize=16)
def _turns(source: str) -> bool:
    outside = outside_generators(source)
    inner = (node for outer in outside for node in ast.walk(outer))
    return any(isinstance(node, ast.Attribute) and node.attr.strip("_") == TURNING for node in inner)


def _probe(setting: Setting, base: Case, rng: random.Random) -> Probe | None:
    turned = [n for n in _turned(setting, base.values) if setting.alters(n, base.values[n])]
    if not turned:
        return None
    number, values = setting.reference.turns.next(LABEL, turned, rng), list(base.values)
    values[number] = _with_large(values[number], rng)
    values = setting.kept(values, base.values)
    if hides_nan(setting, values):
        return None
    case = setting.case(values, LABEL, base.seed)
    sure = _sure(case, base) if all_finite([*base.native, *case.native, *case.oracle]) else None
    if sure is None:
        return None
    native, oracle = ([t.where(at, 0) for t, at in zip(made, sure, strict=True)] for made in (case.native, case.oracle))
    asked_for = Ready(case.values, native, oracle, LABEL, case.seed, case.fan_in)

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        asked = settled(outputs, asked_for, sure)
        verdict = compare_chosen(asked, asked_for, setting)
        if not verdict.passed and merely_unstable(asked, native, oracle):
            return Verdict(passed=True, ratio=1.0)
        return verdict

    return Probe(asked_for, judge)


def _turned(setting: Setting, values: Values) -> list[int]:
    """Inputs whose numbers it sees as they are."""
    watch = _Watch(values)

    def watched() -> set[int]:
        with watch:
            setting.reference.outputs(setting.model, values)
        return watch.seen

    return sorted(where_possible(setting.reference, watched) or ())


class _Watch(TorchFunctionMode):
    """The inputs, or views of them, from which turns are taken away."""

    def __init__(self, values: Values) -> None:
        super().__init__()
        numbers = ((n, v) for n, v in enumerate(values) if is_number(v) and not v.is_complex() and v.dim())
        self._inputs = {v.untyped_storage().data_ptr(): n for n, v in numbers}
        self.seen: set[int] = set()

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__name__", "").strip("_") == TURNING and args and is_number(args[0]):
            number = self._inputs.get(args[0].untyped_storage().data_ptr())
            self.seen |= set() if number is None else {number}
        return func(*args, **(kwargs or {}))


def _with_large(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """A few places, larger by powers of two of any size, as far as the type goes."""
    generator = generator_for(value, rng)
    chance, power = (torch.rand(value.shape, generator=generator, device=value.device) for _ in range(2))
    large = value.double() * 2 ** (power.double() * LARGEST)
    most = torch.finfo(value.dtype).max / 4
    return torch.where((chance < SHARE) | (chance == chance.min()), large.clamp(-most, most).to(value.dtype), value)


def _sure(case: Case, base: Case) -> list[torch.Tensor] | None:
    """Where each result is what the wider reference gives; None where it mostly is not, or where none changes."""
    sure, changes = list[torch.Tensor](), False
    for own, true, usual in zip(case.native, case.oracle, base.native, strict=True):
        if is_number(own) and _largest(own) > GROWN * _largest(usual):
            sure.append(torch.zeros_like(own, dtype=torch.bool))
            continue
        at, changed = near(own, true), own != usual
        count, unsure = told([changed.sum(), (changed & ~at).sum()])
        if unsure > UNSURE * count:
            return None
        changes = changes or count > 0
        sure.append(at)
    return sure if changes else None


def _largest(result: torch.Tensor) -> float:
    return float(result.abs().max()) if result.numel() else 0.0
