"""Integers that hang on a last digit: what was rounded, or chosen among nearly equal numbers, in another order."""

from collections.abc import Sequence

import torch

from kernwright.core.errors import UserError
from kernwright.core.problem import Problem

from .allowance import once
from .cases import Asked, Case, Values
from .numbers import by_parts, is_number

RUNS, FARTHER = 16, 2.0
"""Inputs that differ in their last digits, in pairs that differ the one way and the other, every other pair by so many
times as much: a number near a tie is on its other side for one of them, almost surely."""
TIMES, SHARE, ONE = 2, 1e-3, 1
"""How many times as many numbers as PyTorch's own may be other ones than the oracle's, and how many more: such a share
of them, and one."""


def settled(got: torch.Tensor, case: Case, problem: Problem, index: int) -> torch.Tensor:
    """An output of integers, with PyTorch's own wherever a last digit of the inputs explains another number.

    That is where the oracle has that number, or gets it from inputs that differ by what rounding explains; of few at
    most, and of none where the oracle is no wider than the reference.
    """
    native = case.native[index]
    if not isinstance(case, Asked) or case.wide is None or not any(map(is_number, case.values)):
        return got
    oracle = case.oracle[index]
    if oracle.shape != native.shape:
        return got
    other = (got != native) & (got != oracle)
    most = TIMES * int((native != oracle).sum()) + SHARE * native.numel() + ONE
    if int(other.sum()) > most:
        return got
    for number in range(RUNS):
        if not bool(other.any()):
            break
        try:
            moved = case.wide(moved_by_rounding(case.values, problem, number))
        except UserError:  # the reference makes nothing of such values
            return got
        if len(moved) != len(case.native) or moved[index].shape != native.shape:
            return got
        other &= got != moved[index]
    return torch.where(other, got, native)


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
