"""Matrices that no draw has: multiples of the identity, diagonals with equal numbers, blocks, and zero, where an input
is symmetric, and if it is definite those with eigenvalues of all sizes, or with two that are nearly equal; and of other
square ones some whose rows are exchanged, with nothing on the diagonal.

A rotation that takes an entry away is made of it and of the difference of two others: here both are 0, and who does
not look gives no number where the reference has one; nor does who divides by a diagonal and exchanges no rows. Data
have such matrices: of what never moved, or lies along the axes, or was turned by a right angle. Which eigenvectors
belong to equal eigenvalues is a choice: what hangs on last digits is not compared.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from kernwright.evaluation.drawing.regularity import is_definite
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.numbers import generator_for, is_number
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.problem.setting import Setting

from .lines import compare_lines
from .probe import Probe, Way, all_finite, compare_far

LABEL = "plain matrices"
SHARE, MOST = 64, 16
"""One matrix in so many is of each kind, one at least, and no more than that."""
SMALLEST, NEARLY, REFLECTIONS = 1e-3, 0.01, 6
"""The smallest eigenvalue where they are of all sizes, and how far apart two are that are nearly equal, as shares of
the largest; and by so many reflections a diagonal becomes a matrix that has none."""
SEVERAL = 16
"""Matrices of an input from which on there are all kinds at once."""
Kind = Callable[[torch.Tensor, random.Random], torch.Tensor]
"""Makes such matrices of those that were drawn, as definite as these."""


def plain_matrix_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """For each symmetric input all kinds at once, or each where there are few matrices; and zero, which few references
    bear. For each other square one those whose rows are exchanged. At equal eigenvalues a gradient is a choice."""
    if setting.lean or not setting.mixes or setting.reference.problem.backward:
        return []
    ways: list[Way] = []
    for number, value in enumerate(base.values):
        if not _is_drawn(setting, number, value):
            continue
        regularity = setting.regular.get(number)
        if regularity is not None and (regularity.symmetric or regularity.hermitian):
            several = value.numel() >= SEVERAL * value.shape[-1] ** 2
            kinds: list[list[Kind]] = [KINDS] if several else [[kind] for kind in KINDS]
            kinds.append([_zero])
            if regularity.symmetric and regularity.extent is None and regularity.zeros is None and is_definite(value):
                ways += [partial(_probe, setting, base, rng, number, [kind], share=1) for kind in HARD]
        elif setting.alters(number, value) and value.dim() > 1 and value.shape[-1] == value.shape[-2] > 1:
            kinds = [[_exchanged]]
        else:
            kinds = []
        ways += [partial(_probe, setting, base, rng, number, some) for some in kinds]
    return ways


def _is_drawn(setting: Setting, number: int, value: Any) -> bool:
    """Whether it holds numbers that no draw gave twice: what does not change belongs to the problem."""
    if number in setting.marks or not (is_number(value) and (value.is_floating_point() or value.is_complex())):
        return False
    return any(not torch.equal(value, other.values[number]) for other in setting.bases)


def _probe(
    setting: Setting, base: Case, rng: random.Random, number: int, kinds: Sequence[Kind], *, share: int = SHARE
) -> Probe | None:
    free = replace(setting, held=frozenset())  # moved by last digits these matrices have to stay symmetric
    values = list(base.values)
    values[number] = _with(values[number], kinds, rng, share)
    values = free.kept(values, base.values)
    if hides_nan(setting, values):
        return None
    case = setting.case(values, LABEL, base.seed)
    if not all_finite([*case.native, *case.oracle]):
        return None
    if kinds[0] in HARD:  # whose results are known as well as those of any draw
        return Probe(case, partial(compare_far, free, base, case))
    return Probe(case, partial(compare_lines, case=case, setting=free))


def _with(value: torch.Tensor, kinds: Sequence[Kind], rng: random.Random, share: int) -> torch.Tensor:
    """A few matrices of the value, or the only one, are of these kinds."""
    made = value.clone(memory_format=torch.contiguous_format)
    matrices = made.view(-1, *value.shape[-2:])
    count = max(1, min(len(matrices) // share, MOST))
    chosen = rng.sample(range(len(matrices)), min(len(kinds) * count, len(matrices)))
    for place, index in enumerate(chosen):
        matrices[index] = kinds[place % len(kinds)](matrices[index], rng)
    return made


def _multiple(matrix: torch.Tensor, rng: random.Random) -> torch.Tensor:
    diagonal = matrix.diagonal()
    return torch.diag(diagonal.mean().expand(len(diagonal)))


def _with_a_pair(matrix: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Two numbers of the diagonal are equal, and all others are 0."""
    diagonal = matrix.diagonal().clone()
    one, other = rng.sample(range(len(diagonal)), 2)
    diagonal[one] = diagonal[other]
    return torch.diag(diagonal)


def _blocks(matrix: torch.Tensor, rng: random.Random) -> torch.Tensor:
    cut, made = rng.randrange(1, len(matrix)), matrix.clone()
    made[:cut, cut:], made[cut:, :cut] = 0, 0
    return made


def _exchanged(matrix: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Of its diagonal alone, in rows that moved by one: there is an inverse where there was one."""
    return torch.diag(matrix.diagonal()).roll(1, 0)


def _far_apart(matrix: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Eigenvalues of all sizes: a few steps do not lead to a solution, and what is on the diagonal says little."""
    shares = torch.rand(len(matrix), generator=generator_for(matrix, rng), device=matrix.device, dtype=torch.float64)
    return _with_eigenvalues(SMALLEST**shares, matrix, rng)


def _two_largest(matrix: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Of eigenvalues the two largest are nearly equal: steps towards one of them come near it late."""
    shares = torch.rand(len(matrix), generator=generator_for(matrix, rng), device=matrix.device, dtype=torch.float64)
    shares[: len(matrix) // 2] /= 2
    shares[0] = shares.max() * (1 + NEARLY)
    return _with_eigenvalues(shares, matrix, rng)


def _with_eigenvalues(values: torch.Tensor, matrix: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """A symmetric matrix that has them, and is about as large as this one, by reflections on both sides."""
    made = torch.diag(values * (matrix.diagonal().double().abs().mean() / values.mean()))
    for _ in range(REFLECTIONS):
        normal = torch.randn(len(matrix), generator=generator_for(matrix, rng), device=matrix.device).double()
        normal /= normal.norm()
        half = made - 2 * torch.outer(normal, normal @ made)
        made = half - 2 * torch.outer(half @ normal, normal)
    other: torch.Tensor = (made + made.T) / 2
    return other.to(matrix.dtype)


def _zero(matrix: torch.Tensor, rng: random.Random) -> torch.Tensor:
    return torch.zeros_like(matrix)


KINDS: list[Kind] = [_multiple, _with_a_pair, _blocks]
HARD: list[Kind] = [_far_apart, _two_largest]
"""Of definite ones."""
