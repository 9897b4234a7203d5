"""Whether outputs are the reference's: the error rule."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from kernwright.core.problem import Problem

from .reference import Asked, Case

STRETCH = 1 << 17
"""Elements compared at a time: a megabyte in float64, which stays in a core's cache."""
STRETCH_ON_DEVICE = 1 << 25
"""The same where much work at a time is what counts."""
_NEAR = 0.95
"""What is allowed is a share of the oracle's size; PyTorch's own differs from that by its error."""
_PRECISION_EPSILON = {"tf32": 2.0**-11, "float16": 2.0**-11, "bfloat16": 2.0**-8}


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one set of outputs compares with a case; `ratio` is the error over what is allowed."""

    passed: bool
    ratio: float
    detail: str = ""


def compare(outputs: list[torch.Tensor], case: Case, problem: Problem, names: Sequence[str] | None = None) -> Verdict:
    """Compare every output with the oracle; the worst one speaks, by its name where there are `names`.

    Floating outputs follow `Tolerance`; integer and boolean ones must be equal to PyTorch's own.
    Where PyTorch's own result is not finite and the oracle's is (overflow), anything is accepted.
    """
    worst = Verdict(passed=True, ratio=0.0)
    chains = _chains(case, problem)
    if isinstance(case, Asked) and (near := _near(outputs, case, problem, chains)) is not None:
        return near
    for index, (got, native, oracle) in enumerate(zip(outputs, case.native, case.oracle, strict=True)):
        name = names[index] if names is not None else f"output {index}"
        if native.is_floating_point() or native.is_complex():
            verdict = _floating(name, got, native, oracle, problem, chains[index])
        else:
            verdict = _exact(name, got, native)
        if not verdict.passed:
            return verdict
        worst = max(worst, verdict, key=lambda v: v.ratio)
    return worst


def _near(outputs: list[torch.Tensor], case: Case, problem: Problem, chains: Sequence[int]) -> Verdict | None:
    """That outputs are so near PyTorch's own that no oracle could find them wrong; None where they are not.

    With d the distance from PyTorch's result, e that one's own error, F what is allowed to anyone and r e what is
    allowed beside it: d <= (1 - 1/r) F gives d + e <= max(r e, F), whatever e is.
    """
    tolerance, worst = problem.tolerance, 0.0
    least = min(tolerance.rms_ratio, tolerance.max_ratio)
    share = _NEAR * (1 - 1 / least) if least > 1 else 0.0
    for got, native, chain in zip(outputs, case.native, chains, strict=True):
        if not (native.is_floating_point() or native.is_complex()):
            if not torch.equal(got, native):
                return None
            continue
        errors = _Errors()
        for stretch in _stretches(got, native, native):
            errors.add(*stretch)
        if not (math.isfinite(errors.error_squares) and math.isfinite(errors.size_squares)):
            return None
        worst = max(worst, errors.over(problem, native.dtype, chain))
    return Verdict(passed=True, ratio=worst) if worst <= share else None


def _chains(case: Case, problem: Problem) -> list[int]:
    """For each output the longest chain of additions behind one of its elements."""
    if problem.tolerance.reduction:
        return [problem.tolerance.reduction] * len(case.native)
    tensors = [v for v in case.values if isinstance(v, torch.Tensor)]
    longest = max((max(t.shape, default=1) for t in tensors), default=1)
    inputs = sum(t.numel() for t in tensors)
    # The gradient of a weight may be a sum over all inputs, whatever there is beside it.
    outputs = [t.numel() for t in case.native] if problem.backward else [sum(t.numel() for t in case.native)]
    chains = [max(longest, inputs // max(count, 1), 1) for count in outputs]
    return chains if problem.backward else chains * len(case.native)


@dataclass(slots=True)
class _Errors:
    """Sums of squares and largest magnitudes of the error, PyTorch's own error, and the oracle."""

    count: int = 0
    error_squares: float = 0.0
    own_squares: float = 0.0
    size_squares: float = 0.0
    error_max: float = 0.0
    own_max: float = 0.0
    size_max: float = 0.0

    def add(self, got: torch.Tensor, own: torch.Tensor, true: torch.Tensor) -> None:
        """One stretch, flat and in float64."""
        if true.numel() == 0:
            return
        error, own_error = got - true, own - true
        self.count += true.numel()
        self.error_squares += _square(error)
        self.own_squares += _square(own_error)
        self.size_squares += _square(true)
        self.error_max = _larger(self.error_max, error)
        self.own_max = _larger(self.own_max, own_error)
        self.size_max = _larger(self.size_max, true)

    def over(self, problem: Problem, dtype: torch.dtype, chain: int) -> float:
        """The error over what is allowed, RMS or largest, whichever is worse.

        Additions let an error grow with the root of their number; operands that were rounded before do not.
        """
        if self.count == 0:
            return 0.0
        tolerance = problem.tolerance
        added = float(torch.finfo(dtype).eps) * math.sqrt(chain)
        growth = tolerance.epsilon_factor * (added + _rounding(problem))
        rms, own, size = (
            math.sqrt(squares / self.count) for squares in (self.error_squares, self.own_squares, self.size_squares)
        )
        allowed_max = max(tolerance.max_ratio * self.own_max, 2 * growth * self.size_max)
        return max(_over(rms, max(tolerance.rms_ratio * own, growth * size)), _over(self.error_max, allowed_max))


def _floating(
    name: str, got: torch.Tensor, native: torch.Tensor, oracle: torch.Tensor, problem: Problem, chain: int
) -> Verdict:
    if native.numel() == 0:
        return Verdict(passed=True, ratio=0.0)
    errors = _Errors()
    for stretch in _stretches(got, native, oracle):
        errors.add(*stretch)
    finite = math.isfinite(errors.own_squares) and math.isfinite(errors.size_squares)
    if not finite:
        spot = _unsettled(name, got, native, oracle)
        if spot is not None:
            return spot
        errors = _Errors()
        for stretch in _stretches(got, native, oracle):
            settled = _settled(stretch)
            errors.add(*(part[settled] for part in stretch))
    ratio = errors.over(problem, native.dtype, chain)
    if ratio <= 1:
        return Verdict(passed=True, ratio=ratio)
    return _failed(name, got, native, oracle, ratio)


def _stretches(*tensors: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
    """The same places of each, a stretch at a time, flat and in float64: sums of a narrow type would overflow."""
    flat = [_real(t).flatten() for t in tensors]
    stretch = STRETCH if flat[0].device.type == "cpu" else STRETCH_ON_DEVICE
    for start in range(0, flat[0].numel(), stretch):
        yield tuple(t[start : start + stretch].double() for t in flat)


def _settled(stretch: Sequence[torch.Tensor]) -> torch.Tensor:
    """Where PyTorch's own result and the oracle's are both numbers."""
    _, own, true = stretch
    return torch.isfinite(own) & torch.isfinite(true)


def _failed(name: str, got: torch.Tensor, native: torch.Tensor, oracle: torch.Tensor, ratio: float) -> Verdict:
    spot, largest, start = 0, -1.0, 0
    for stretch in _stretches(got, native, oracle):
        error = (stretch[0] - stretch[2]).abs().nan_to_num(nan=math.inf, posinf=math.inf)
        error[~_settled(stretch)] = 0.0
        if (worst := float(error.max())) > largest:
            spot, largest = start + int(error.argmax()), worst
        start += error.numel()
    if oracle.is_complex():
        spot //= 2
    place = [int(n) for n in torch.unravel_index(torch.tensor(spot), oracle.shape)]
    return Verdict(
        passed=False,
        ratio=ratio,
        detail=f"{name} at {place}: expected {_number(oracle.flatten()[spot])}, got "
        f"{_number(got.flatten()[spot])}; error {ratio:.3g} x the allowed",
    )


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


def _rounding(problem: Problem) -> float:
    """Relative error of operands in the narrowest type that the rules allow inside."""
    if problem.rules.reduced_precision:
        return _PRECISION_EPSILON["bfloat16"]
    return _PRECISION_EPSILON.get(problem.rules.precision, 0.0)


def _real(tensor: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _square(values: torch.Tensor) -> float:
    return float(torch.dot(values, values))


def _larger(known: float, values: torch.Tensor) -> float:
    low, high = map(float, values.aminmax())
    return math.nan if math.isnan(low) else max(known, -low, high)


def _over(error: float, allowed: float) -> float:
    if math.isnan(error):
        return math.inf
    if allowed == 0.0:
        return 0.0 if error == 0.0 else math.inf
    return error / allowed


def _number(value: torch.Tensor) -> str:
    return f"{value.item():.6g}"
