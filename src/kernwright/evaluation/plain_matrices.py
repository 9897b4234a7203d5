"""Symmetric matrices that no draw has: multiples of the identity, diagonals with equal numbers, blocks, and zero.

A rotation that takes an entry away is made of it and of the difference of two others: here both are 0, and who does
not look gives no number where the reference has one. Data have such matrices: of what never moved, or lies along the
axes. Which eigenvectors belong to equal eigenvalues is a choice: what hangs on last digits is not compared.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import torch

from .cases import Case
from .lines import compare_lines
from .nans import hides_nan
from .probe import Probe, Way, all_finite
from .setting import Setting

LABEL = "plain matrices"
SHARE, MOST = 64, 16
"""One matrix in so many is of each kind, one at least, and no more than that."""
SEVERAL = 16
"""Matrices of an input from which on there are all kinds at once."""
Kind = Callable[[torch.Tensor, random.Random], torch.Tensor]
"""Makes such matrices of those that were drawn, as definite as these."""


def plain_matrix_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """For each symmetric input all kinds at once, or each where there are few matrices; and zero, which few references
    bear. Where eigenvalues are equal a gradient is a choice."""
    if setting.lean or not setting.mixes or setting.reference.problem.backward:
        return []
    ways: list[Way] = []
    for number, regularity in setting.regular.items():
        value: torch.Tensor = base.values[number]
        others = (other.values[number] for other in setting.bases)
        varies = any(not torch.equal(value, other) for other in others)  # what does not belongs to the problem
        if varies and (regularity.symmetric or regularity.hermitian) and number not in setting.marks:
            several = value.numel() >= SEVERAL * value.shape[-1] ** 2
            kinds: list[list[Kind]] = [KINDS] if several else [[kind] for kind in KINDS]
            kinds.append([_zero])
            ways += [partial(_probe, setting, base, rng, number, some) for some in kinds]
    return ways


def _probe(setting: Setting, base: Case, rng: random.Random, number: int, kinds: Sequence[Kind]) -> Probe | None:
    free = replace(setting, held=frozenset())  # moved by last digits these matrices have to stay symmetric
    values = list(base.values)
    values[number] = _with(values[number], kinds, rng)
    values = free.kept(values, base.values)
    if hides_nan(setting, values):
        return None
    case = setting.case(values, LABEL, base.seed)
    if not all_finite([*case.native, *case.oracle]):
        return None
    return Probe(case, partial(compare_lines, case=case, setting=free))


def _with(value: torch.Tensor, kinds: Sequence[Kind], rng: random.Random) -> torch.Tensor:
    """A few matrices of the value, or the only one, are of these kinds."""
    made = value.clone(memory_format=torch.contiguous_format)
    matrices = made.view(-1, *value.shape[-2:])
    count = max(1, min(len(matrices) // SHARE, MOST))
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


def _zero(matrix: torch.Tensor, rng: random.Random) -> torch.Tensor:
    return torch.zeros_like(matrix)


KINDS: list[Kind] = [_multiple, _with_a_pair, _blocks]
