"""Whether outputs are the reference's: the error rule."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import torch

from kernwright.core.problem import Problem
from kernwright.evaluation.numbers import widened
from kernwright.evaluation.problem.cases import Asked, Case

from .allowance import FLOOR, GROSS, Errors, chains_of, unavoidable
from .cancelling import Left
from .cut_off import with_operands_in_tf32
from .early_rounding import rounded_early
from .nearness import error_if_near, stretches
from .random_rounding import RUNS, rounded_at_random
from .ties import landed, settled

HOPELESS = 100.0
"""So many times what is allowed is no rounding of a result: no other rounding is asked for."""
MOST_CUT = 0.1
"""Share of a result, RMS or largest, by which a reference whose operands are cut off to TF32 may be off."""
AS_MUCH = 2.0
"""So many times as large as that of a reference whose operands are rounded to TF32 may an error be, RMS, and twice that
the largest; operands of bfloat16 make it eight times as large."""
NOTHING = torch.finfo(torch.float32).tiny / torch.finfo(torch.float32).eps
"""Numbers below lose digits, or count as 0."""
_FAR = 8.0
"""So many times what is allowed beside one other rounding is too much beside all: their errors are about as large, but
where a few numbers are most of a result."""
Results = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""What was given, PyTorch's own and the oracle's."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one set of outputs compares with a case; `ratio` is the error over what is allowed."""

    passed: bool
    ratio: float
    detail: str = ""


def compare(
    outputs: list[torch.Tensor],
    case: Case,
    problem: Problem,
    names: Sequence[str] | None = None,
    floors: Sequence[float] | None = None,
) -> Verdict:
    """Compare every output with the oracle; the worst one speaks, by its name where there are `names`.

    Floating outputs follow `Tolerance`; integer and boolean ones must be equal to PyTorch's own,
    but for those that hang on a last digit (`ties`). `floors`: for each
    output an error that is allowed however small the oracle is; where the reference itself is off by more than that
    allows, under this rounding or another, nothing is asked but that results are numbers.
    Where PyTorch's own result is not finite and the oracle's is (overflow), anything is accepted.
    """
    worst, rounded = Verdict(passed=True, ratio=0.0), _Rounded(case)
    chains = chains_of(case, problem)
    if isinstance(case, Asked) and (ratio := error_if_near(outputs, case, problem)) is not None:
        return Verdict(passed=True, ratio=ratio)
    for index, (got, native, oracle) in enumerate(zip(outputs, case.native, case.oracle, strict=True)):
        name = names[index] if names is not None else f"output {index}"
        if native.is_floating_point() or native.is_complex():
            rule = _Rule(problem, native.dtype, chains[index], floors[index] if floors else 0.0)
            left = Left(case, problem, index)
            verdict = _floating(name, got, native, oracle, rule)
            if not verdict.passed:
                verdict = _excused(verdict, name, (got, native, oracle), rule, left)
            if not verdict.passed and (on := landed(got, case, problem, index, rule.explained(oracle))) is not got:
                got, verdict = on, _floating(name, on, native, oracle, rule)
            if not verdict.passed and verdict.ratio < HOPELESS:
                known = _settled((got, native, oracle))  # elsewhere PyTorch has no number itself, and nothing is asked
                verdict = _otherwise_rounded(verdict, name, got, oracle, known, rule, rounded.of(index))
            if not verdict.passed and problem.rules.precision == "tf32":
                verdict = _beside_tf32(verdict, name, got, case, index, rule)
            if verdict.passed and left.tail is not None:
                verdict = _but_for(left.tail, verdict, name, (got, native, oracle), rule, left, rounded.of(index))
            if verdict.passed and (early := rounded_early(got, native, oracle, case, problem, rule.floor)) > 1:
                verdict = _failed(name, got, native, oracle, early)
        else:
            verdict = _exact(name, settled(got, case, problem, index), native)
        if not verdict.passed:
            if floors and verdict.ratio < HOPELESS and _is_uncertain(native, oracle, rounded.of(index)):
                continue
            return verdict
        worst = max(worst, verdict, key=lambda v: v.ratio)
    return worst


@dataclass(frozen=True, slots=True)
class _Rule:
    """What decides about one output."""

    problem: Problem
    dtype: torch.dtype
    chain: float
    floor: float
    most: float = FLOOR

    def ratio(self, errors: Errors) -> float:
        return errors.over(self.problem, self.dtype, self.chain, self.floor, self.most)

    def explained(self, oracle: torch.Tensor) -> float:
        """How far off rounding explains that one number is, whatever PyTorch's own error is."""
        size = widened(oracle).abs()
        size = torch.where(size.isfinite(), size, 0.0).max()
        return 2 * unavoidable(self.problem, self.dtype, self.chain) * float(size)


def _excused(verdict: Verdict, name: str, results: Results, rule: _Rule, left: Left) -> Verdict:
    """The verdict beside what additions leave of terms that cancel, or the given one where that is nothing."""
    got, native, oracle = results
    if left.rms > rule.floor:
        return _floating(name, got, native, oracle, replace(rule, floor=left.rms, most=GROSS))
    return verdict if left.tail is None else _floating(name, left.nearer(got), native, oracle, rule)


def _but_for(
    tail: torch.Tensor,
    verdict: Verdict,
    name: str,
    results: Results,
    rule: _Rule,
    left: Left,
    owns: Iterator[torch.Tensor],
) -> Verdict:
    """The verdict, or that of the numbers that are not in the `tail`, beside which no error of theirs is seen."""
    got, native, oracle = (torch.where(tail, 0.0, each) for each in results)
    if float(torch.where(native.isfinite(), native, 0.0).abs().max()) < NOTHING:
        return verdict
    rest = _floating(name, got, native, oracle, rule)
    if not rest.passed:
        rest = _floating(name, torch.where(tail, 0.0, left.nearer(results[0])), native, oracle, rule)
    if not rest.passed and rest.ratio < HOPELESS:
        known = _settled((got, native, oracle))
        others = (torch.where(tail, 0.0, each) for each in owns)
        rest = _otherwise_rounded(rest, name, got, oracle, known, rule, others)
    return verdict if rest.passed else rest


def _floating(name: str, got: torch.Tensor, native: torch.Tensor, oracle: torch.Tensor, rule: _Rule) -> Verdict:
    if native.numel() == 0:
        return Verdict(passed=True, ratio=0.0)
    errors = Errors()
    for stretch in stretches(got, native, oracle):
        errors.add(*stretch)
    finite = math.isfinite(errors.own_squares) and math.isfinite(errors.size_squares)
    if not finite:
        spot = _unsettled(name, got, native, oracle)
        if spot is not None:
            return spot
        errors = Errors()
        for stretch in stretches(got, native, oracle):
            settled = _settled(stretch)
            errors.add(*(part[settled] for part in stretch))
    ratio = rule.ratio(errors)
    if ratio <= 1:
        return Verdict(passed=True, ratio=ratio)
    return _failed(name, got, native, oracle, ratio)


class _Rounded:
    """The reference under other roundings, each made when it is first asked for."""

    def __init__(self, case: Case) -> None:
        self._coming, self._made = rounded_at_random(case), list[list[torch.Tensor]]()

    def of(self, index: int) -> Iterator[torch.Tensor]:
        for number in range(RUNS):
            if number == len(self._made):
                self._made += islice(self._coming, 1)
            if number < len(self._made):
                yield self._made[number][index]


def _otherwise_rounded(
    verdict: Verdict,
    name: str,
    got: torch.Tensor,
    oracle: torch.Tensor,
    known: torch.Tensor,
    rule: _Rule,
    owns: Iterator[torch.Tensor],
) -> Verdict:
    """The verdict beside PyTorch's own error under other roundings, or the given one where none excuses the error."""
    everywhere = bool(known.all())
    for own in owns:
        if _is_rounding(own if everywhere else own[known], oracle if everywhere else oracle[known]):
            other = _floating(name, got, own, oracle, rule)
            if other.passed:
                return other
            if other.ratio > _FAR:
                break
    return verdict


def _beside_tf32(verdict: Verdict, name: str, got: torch.Tensor, case: Case, index: int, rule: _Rule) -> Verdict:
    """The verdict beside what products make of operands that nobody rounded, or the given one.

    They lose in one direction, so nothing else that is as far off comes near it. Or beside what rounded ones make:
    where an exponential magnifies what they lose, who rounds elsewhere too is off by as much in other places.
    """
    owns = with_operands_in_tf32(case)
    if owns is None or not math.isfinite(verdict.ratio):
        return verdict
    oracle, own = case.oracle[index], owns[index]
    if _is_rounding(own, oracle, MOST_CUT):
        other = _floating(name, got, own, own, rule)
        if other.passed:
            return other
    rounded = with_operands_in_tf32(case, rounded=True)
    if rounded is not None and _is_as_near(got, oracle, rounded[index]):
        return Verdict(passed=True, ratio=1.0)
    return verdict


def _is_as_near(got: torch.Tensor, oracle: torch.Tensor, own: torch.Tensor) -> bool:
    error, allowed = _errors(got, oracle), _errors(own, oracle)
    return (
        allowed.error_squares <= MOST_CUT**2 * allowed.size_squares
        and error.error_squares <= AS_MUCH**2 * allowed.error_squares
        and error.error_max <= 2 * AS_MUCH * allowed.error_max
    )


def _errors(own: torch.Tensor, oracle: torch.Tensor) -> Errors:
    errors = Errors()
    for stretch, true in stretches(own, oracle):
        errors.add(stretch, None, true)
    return errors


def _is_rounding(own: torch.Tensor, oracle: torch.Tensor, most: float = FLOOR) -> bool:
    """Whether it differs by rounding, and no number by a leap: of a comparison that fell out otherwise, say."""
    errors = _errors(own, oracle)
    return errors.error_max <= most * errors.size_max


def _is_uncertain(native: torch.Tensor, oracle: torch.Tensor, owns: Iterator[torch.Tensor]) -> bool:
    """Whether one of the reference's own results is no rounding of the oracle's, by size in all."""
    found = (_errors(own, oracle) for own in chain((native,), owns))
    return any(errors.error_squares > FLOOR**2 * errors.size_squares for errors in found)


def _settled(stretch: Sequence[torch.Tensor]) -> torch.Tensor:
    """Where PyTorch's own result and the oracle's are both numbers."""
    _, own, true = stretch
    return torch.isfinite(own) & torch.isfinite(true)


def _failed(name: str, got: torch.Tensor, native: torch.Tensor, oracle: torch.Tensor, ratio: float) -> Verdict:
    detail = f"{spot(name, got, native, oracle)}; error {ratio:.3g} x the allowed"
    return Verdict(passed=False, ratio=ratio, detail=detail)


def spot(name: str, got: torch.Tensor, native: torch.Tensor, oracle: torch.Tensor) -> str:
    """The number that is furthest off, in words."""
    place, largest, start = 0, -1.0, 0
    for stretch in stretches(got, native, oracle):
        error = (stretch[0] - stretch[2]).abs().nan_to_num(nan=math.inf, posinf=math.inf)
        error[~_settled(stretch)] = 0.0
        if (worst := float(error.max())) > largest:
            place, largest = start + int(error.argmax()), worst
        start += error.numel()
    if oracle.is_complex():
        place //= 2
    at = [int(n) for n in torch.unravel_index(torch.tensor(place), oracle.shape)]
    return f"{name} at {at}: expected {_number(oracle.flatten()[place])}, got {_number(got.flatten()[place])}"


def _unsettled(name: str, got: torch.Tensor, own: torch.Tensor, true: torch.Tensor) -> Verdict | None:
    both = ~torch.isfinite(true) & ~torch.isfinite(own)
    same = (torch.isnan(true) & torch.isnan(got)) | (true == got) | (torch.isnan(own) & torch.isnan(got))
    bad = both & ~same
    if not bool(bad.any()):
        return None
    at = tuple(map(int, bad.nonzero()[0]))
    return Verdict(
        passed=False,
        ratio=math.inf,
        detail=f"{name} at {list(at)}: expected {_number(true[at])}, got {_number(got[at])}",
    )


def _exact(name: str, got: torch.Tensor, native: torch.Tensor) -> Verdict:
    different = (got != native).nonzero()
    if len(different) == 0:
        return Verdict(passed=True, ratio=0.0)
    at = tuple(map(int, different[0]))
    return Verdict(
        passed=False,
        ratio=math.inf,
        detail=f"{name} at {list(at)}: expected {native[at].item()}, got {got[at].item()}; "
        f"{len(different)} of {native.numel()} elements differ",
    )


def _number(value: torch.Tensor) -> str:
    return f"{value.item():.6g}"
