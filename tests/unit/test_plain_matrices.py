"""Symmetric matrices with equal eigenvalues: a result must be a number, and what is a choice stays one."""

import random
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.plain_matrices import plain_matrix_ways  # noqa: E402
from kernwright.evaluation.probe import in_time  # noqa: E402
from kernwright.evaluation.setting import Setting  # noqa: E402

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


def verdicts(setting: Setting, kernel: Callable[..., Any]) -> list[bool]:
    """For each such probe, whether the kernel is right."""
    found = []
    for seed in range(3):
        for probe in in_time(setting, plain_matrix_ways(setting, setting.bases[0], random.Random(seed))):
            made = kernel(*probe.case.values)
            found.append(probe.compare([*made] if isinstance(made, tuple) else [made]).passed)
    return found


def wide_vectors(a: torch.Tensor) -> tuple[torch.Tensor, ...]:
    values, vectors = torch.linalg.eigh(a.double())
    return values.float(), -vectors.float()


def steps(a: torch.Tensor) -> torch.Tensor:
    """A solution of conjugate gradients that goes on when there is nothing left to do."""
    x = torch.zeros(len(a), 1)
    p = r = torch.ones(len(a), 1)
    for _ in range(64):
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


def test_other_matrices_stay_as_they_are(prepared: Prepared) -> None:
    assert not verdicts(prepared(SOURCE.format(result="a.exp()", shape=SMALL, matrix="m")), torch.exp)
