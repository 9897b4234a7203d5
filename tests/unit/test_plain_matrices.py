"""Matrices that no draw has: a result must be a number where the reference's is, and what is a choice stays one."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes import plain_matrices  # noqa: E402
from kernwright.evaluation.probes.plain_matrices import plain_matrix_ways  # noqa: E402
from kernwright.evaluation.probes.probe import in_time  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, a):
        return {result}


def get_inputs():
    m = torch.randn({shape})
    return [{matrix}]
"""
SMALL, ONE, COMPLEX = "256, 4, 4", "48, 48", "64, 3, 3, dtype=torch.complex64"
SUM, GRAM = "m + m.mT", "m @ m.mT / 4 + torch.eye(m.shape[-1])"
Prepared = Callable[..., Setting]


def verdicts(
    setting: Setting, kernel: Callable[..., Any], kinds: Sequence[plain_matrices.Kind] | None = None
) -> list[bool]:
    """For each such probe, or those of some kinds, whether the kernel is right."""
    found = []
    for seed in range(3):
        ways = plain_matrix_ways(setting, setting.bases[0], random.Random(seed))
        for probe in in_time(setting, [way for way in ways if kinds is None or cast(Any, way).args[-1][0] in kinds]):
            made = kernel(*probe.case.values)
            found.append(probe.compare([*made] if isinstance(made, tuple) else [made]).passed)
    return found


def wide_vectors(a: torch.Tensor) -> tuple[torch.Tensor, ...]:
    values, vectors = torch.linalg.eigh(a.double())
    return values.float(), -vectors.float()


def steps(a: torch.Tensor, count: int = 64) -> torch.Tensor:
    """A solution of conjugate gradients that goes on when there is nothing left to do."""
    x = torch.zeros(len(a), 1)
    p = r = torch.ones(len(a), 1)
    for _ in range(count):
        q = a @ p
        step = (r * r).sum() / (p * q).sum()
        x, left = x + step * p, r - step * q
        p, r = left + (left * left).sum() / (r * r).sum() * p, left
    return x


@pytest.mark.parametrize(
    ("result", "shape", "matrix", "right"),
    [
        ("torch.linalg.eigvalsh(a)", SMALL, SUM, lambda a: torch.linalg.eigvalsh(a.double()).float()),
        ("torch.linalg.eigvalsh(a)", ONE, SUM, lambda a: torch.linalg.eigvalsh(a.double()).float()),
        ("torch.linalg.eigvalsh(a)", COMPLEX, "m + m.mH", lambda a: torch.linalg.eigh(a).eigenvalues),
        ("tuple(torch.linalg.eigh(a))", SMALL, GRAM, wide_vectors),
        ("torch.linalg.inv(a)", SMALL, GRAM, lambda a: torch.cholesky_inverse(torch.linalg.cholesky(a))),
        ("torch.linalg.slogdet(a)[1]", ONE, GRAM, lambda a: 2 * torch.linalg.cholesky(a).diagonal().log().sum()),
        ("torch.linalg.matrix_rank(a)", SMALL, GRAM, lambda a: (torch.linalg.svdvals(a) > 1e-5).sum(-1)),
        ("a.argmax(-1)", SMALL, SUM, lambda a: 3 - a.flip(-1).argmax(-1)),
    ],
)
def test_right_kernels_pass(
    prepared: Prepared, result: str, shape: str, matrix: str, right: Callable[..., Any]
) -> None:
    setting = prepared(SOURCE.format(result=result, shape=shape, matrix=matrix))
    assert 0 in setting.held
    found = verdicts(setting, right)
    assert found
    assert all(found)


@pytest.mark.parametrize(
    ("result", "shape", "wrong"),
    [
        ("torch.linalg.eigvalsh(a)", SMALL, lambda a: torch.linalg.eigvalsh(a) + 0 / a[..., :1, 1].abs()),
        ("torch.linalg.solve(a, torch.ones(48, 1))", ONE, steps),
    ],
)
def test_who_divides_by_what_is_0_is_refused(
    prepared: Prepared, result: str, shape: str, wrong: Callable[..., Any]
) -> None:
    setting = prepared(SOURCE.format(result=result, shape=shape, matrix=GRAM))
    assert not all(verdicts(setting, wrong))


def test_a_few_steps_do_not_suffice_for_other_eigenvalues(prepared: Prepared) -> None:
    result, matrix = "torch.linalg.solve(a, torch.ones(48, 1))", "m @ m.mT / 480 + torch.eye(48)"
    setting = prepared(SOURCE.format(result=result, shape=ONE, matrix=matrix))
    drawn, few_steps = setting.bases[0], partial(steps, count=12)
    assert torch.allclose(few_steps(*drawn.values), drawn.native[0], rtol=1e-4)
    right = lambda a: torch.cholesky_solve(torch.ones(48, 1), torch.linalg.cholesky(a))  # noqa: E731
    assert verdicts(setting, right, plain_matrices.HARD) == [True] * 6
    assert verdicts(setting, few_steps, plain_matrices.HARD).count(False) >= 3


@pytest.mark.parametrize("matrix", ["m.abs() @ m.mT.abs() + torch.eye(48)", "torch.eye(48) * (2 + m.abs())"])
def test_eigenvalues_stay_where_signs_or_zeros_do(prepared: Prepared, matrix: str) -> None:
    """These kept, the matrix would not be definite."""
    setting = prepared(SOURCE.format(result="torch.linalg.inv(a)", shape=ONE, matrix=matrix))
    assert verdicts(setting, torch.linalg.inv, plain_matrices.HARD) == []


def without_exchanges(a: torch.Tensor) -> torch.Tensor:
    """Eliminates by what stands on the diagonal."""
    both = torch.cat([a.double(), torch.eye(a.shape[-1], dtype=torch.float64).expand(a.shape)], -1)
    for at in range(a.shape[-1]):
        row = both[..., at : at + 1, :] / both[..., at : at + 1, at : at + 1]
        both = both - both[..., at : at + 1] * row
        both[..., at : at + 1, :] = row
    return both[..., a.shape[-1] :].float()


NEAR = "m + 9 * torch.eye(m.shape[-1])"


@pytest.mark.parametrize("shape", ["256, 4, 4", "4, 4"])
def test_rows_that_have_to_be_exchanged(prepared: Prepared, shape: str) -> None:
    setting = prepared(SOURCE.format(result="torch.linalg.inv(a)", shape=shape, matrix=NEAR))
    assert not all(verdicts(setting, without_exchanges))
    assert all(verdicts(setting, lambda a: torch.linalg.inv(a.double()).float()))


@pytest.mark.parametrize(
    ("result", "shape", "matrix", "right"),
    [
        ("torch.softmax(a, -1)", "64, 8, 8", "m", lambda a: torch.softmax(a.double(), -1).float()),
        ("torch.linalg.qr(a)[1].abs()", "64, 4, 4", NEAR, lambda a: torch.linalg.qr(a.double())[1].abs().float()),
        ("torch.layer_norm(a, (8,))", "64, 8, 8", "m", lambda a: torch.layer_norm(a.double(), (8,)).float()),
    ],
)
def test_right_kernels_of_any_square_matrices_pass(
    prepared: Prepared, result: str, shape: str, matrix: str, right: Callable[..., Any]
) -> None:
    found = verdicts(prepared(SOURCE.format(result=result, shape=shape, matrix=matrix)), right)
    assert found
    assert all(found)


@pytest.mark.parametrize("shape", ["256, 4, 3", "64"])
def test_what_is_not_square_stays_as_it_is(prepared: Prepared, shape: str) -> None:
    assert not verdicts(prepared(SOURCE.format(result="a.exp()", shape=shape, matrix="m")), torch.exp)
