"""Numbers that hang on a last digit: what was rounded, or chosen among nearly equal numbers, in another order."""

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import torch

from kernwright.core.errors import UserError
from kernwright.core.problem import Problem
from kernwright.evaluation.numbers import by_parts, is_number, told, widened
from kernwright.evaluation.problem.cases import Asked, Case, Values

from .allowance import once

RUNS, FARTHER = 16, 2.0
"""Inputs that differ in their last digits, in pairs that differ the one way and the other, every other pair by so many
times as much: a number near a tie is on its other side for one of them, almost surely."""
TIMES, SHARE, ONE = 2, 1e-3, 1
"""How many times as many numbers as PyTorch's own may be other ones than the oracle's, and how many more: such a share
of them, and one."""
STEPS = frozenset(
    """
    round floor ceil trunc fix frac floor_divide remainder fmod int long short char byte int8 int16 int32 int64 uint8
    half bfloat16 float16 float8_e4m3fn float8_e5m2 fake_quantize_per_tensor_affine fake_quantize_per_channel_affine
    """.split()
)
"""What makes steps of numbers."""
MOST_LEAP = 0.02
"""Share of a result that may leap at once: more do where inputs lie on steps, as whole numbers do on those of `floor`,
and sums of them then tell of nothing."""
QUARTER, USUAL, LEAST_LEAP, LOOKED_AT = 0.25, 64.0, 0.01, 1 << 16
"""What so many of the numbers move by at the most, so many times that is no leap yet, up to this share of the largest
result; so many are looked at."""
NEARER = 0.25
"""Share of its distance from the oracle, within which a float lies of where it leapt to."""


def settled(got: torch.Tensor, case: Case, problem: Problem, index: int) -> torch.Tensor:
    """An output of integers, with PyTorch's own wherever a last digit of the inputs explains another number.

    That is where the oracle has that number, or gets it from inputs that differ by what rounding explains; of few at
    most, and of none where the oracle is no wider than the reference.
    """
    native, oracle = case.native[index], case.oracle[index]
    if oracle.shape != native.shape:
        return got
    other = (got != native) & (got != oracle)
    own = int((native != oracle).sum())
    left = _unexplained(other, own, lambda moved: got != moved, _moved_oracles(case, problem, index))
    return got if left is None else torch.where(left, got, native)


def landed(got: torch.Tensor, case: Case, problem: Problem, index: int, most: float) -> torch.Tensor:
    """The same of an output of floats that fall to steps, as of `round(x / step) * step`; there the oracle's number.

    That is where it is off by more than `most`, and inputs that differ by what rounding explains lead to what is much
    nearer: a step that falls the other way, and no error that only grows.
    """
    true: torch.Tensor = widened(case.oracle[index])
    if true.shape != got.shape or not _makes_steps(problem.source):
        return got
    wide: torch.Tensor = widened(got)
    off = (wide - true).abs()
    other = ~(off <= most) & torch.isfinite(true)
    own = int((~((widened(case.native[index]) - true).abs() <= most)).sum())
    near = torch.where(off.isfinite(), NEARER * off, -1.0)  # what is no number is near nothing

    def stays(oracle: torch.Tensor) -> torch.Tensor:
        moved: torch.Tensor = widened(oracle)
        far = (moved - true).abs()
        leap = max(most, _farthest_without_a_leap(far, true))
        leapt = int((~(far <= leap)).sum())
        if leapt > MOST_LEAP * true.numel():
            return torch.ones_like(other)
        return ~((wide - moved).abs() <= near) | (off <= leap)

    left = _unexplained(other, own, stays, _moved_oracles(case, problem, index))
    if left is None or torch.equal(left, other):
        return got
    return torch.where(other & ~left, true, wide)


def _farthest_without_a_leap(far: torch.Tensor, true: torch.Tensor) -> float:
    """By how much results move that hang on large numbers, as angles of many turns do, or less where most leap."""
    some = far.flatten()[:: max(1, far.numel() // LOOKED_AT)].nan_to_num(nan=torch.inf)
    size = torch.where(torch.isfinite(true), true, 0.0).abs().max()
    usual, most = told([some.kthvalue(max(1, round(QUARTER * len(some)))).values, size])
    return min(USUAL * usual, LEAST_LEAP * most)


@lru_cache(maxsize=16)
def _makes_steps(source: str) -> bool:
    named = (isinstance(node, ast.Attribute) and node.attr.strip("_") in STEPS for node in ast.walk(ast.parse(source)))
    return divides_in_whole_steps(source) or any(named)


def divides_in_whole_steps(source: str) -> bool:
    """Whether `//` or `%` stands in it."""
    return any(
        isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.FloorDiv | ast.Mod)
        for node in ast.walk(ast.parse(source))
    )


def _unexplained(
    other: torch.Tensor, own: int, stays: Callable[[torch.Tensor], torch.Tensor], moved: Iterator[torch.Tensor]
) -> torch.Tensor | None:
    """Which of these `other` numbers no moved oracle explains; None where they are too many.

    `own`: how many numbers of PyTorch's are other ones; `stays`: where such an oracle explains nothing.
    """
    if int(other.sum()) > TIMES * own + SHARE * other.numel() + ONE:
        return None
    while bool(other.any()) and (oracle := next(moved, None)) is not None:
        other = other & stays(oracle)
    return other


def _moved_oracles(case: Case, problem: Problem, index: int) -> Iterator[torch.Tensor]:
    """What the oracle makes of inputs that differ by a last digit; none where it is no wider than the reference."""
    if not isinstance(case, Asked) or case.wide is None or not any(map(is_number, case.values)):
        return
    for number in range(RUNS):
        try:
            moved = case.wide(moved_by_rounding(case.values, problem, number))
        except UserError:  # the reference makes nothing of such values
            return
        if len(moved) != len(case.native) or moved[index].shape != case.native[index].shape:
            return
        yield moved[index]


def moved_by_rounding(values: Sequence[object], problem: Problem, number: int) -> Values:
    """Numbers in float64 that differ by a few last digits; equal ones stay equal, so that ties stay ties."""
    pair = number // 2

    def moved(value: torch.Tensor) -> torch.Tensor:
        size = problem.tolerance.epsilon_factor * once(problem, value.dtype) * (FARTHER if pair % 2 else 1.0)
        return value.double() * (1 + (size if number % 2 else -size) * _noise(value, pair))

    return [
        by_parts(moved, value) if isinstance(value, torch.Tensor) and is_number(value) else value for value in values
    ]


def _noise(value: torch.Tensor, seed: int) -> torch.Tensor:
    """Between -1 and 1, by nothing but the number that it is for."""
    digits = value.double().view(torch.int64)
    for shift in (29, 32):
        digits = (digits ^ (digits >> shift) ^ (seed * 0x9E3779B97F4A7C1)) * 0x2545F4914F6CDD1D
    return (digits >> 33).double() / 2**30
