"""Of matrices that the judge made singular, factors that rounding decides are not compared; all others are."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.errors.factors import _where_firm, compare_factored  # noqa: E402
from kernwright.evaluation.probes.distributions import _asked_for, probes_in_any_order  # noqa: E402
from kernwright.evaluation.problem.cases import Case  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

Kernel = Callable[..., "torch.Tensor | tuple[torch.Tensor, ...]"]
DRAWN = one_line("x", "torch.randn(48, 12, 4)")
POSITIVE = "(s := torch.linalg.qr(x), d := s.R.diagonal(dim1=-2, dim2=-1).sign()[:, None], {})[-1]"
Q, R = POSITIVE.format("s.Q * d"), POSITIVE.format("s.R * d.mT")
NORMAL = "torch.where((v := torch.linalg.svd(x, full_matrices=False).Vh[:, 3])[:, 3:] < 0, -v, v)"


def _q(x: torch.Tensor, *, lost: int = 0) -> torch.Tensor:
    """By Gram and Schmidt, in float64; a column without a rest is 0, and may be whatever is at right angles to others.
    `lost`: a matrix that is left out."""
    wide, made = x.double(), torch.zeros_like(x, dtype=torch.float64)
    for column in range(x.shape[-1]):
        rest = wide[..., column]
        for _ in range(2):
            rest = rest - (made @ (made.mT @ rest[..., None]))[..., 0]
        length = rest.norm(dim=-1, keepdim=True)
        made[..., column] = torch.where(length > 1e-13, rest / length, torch.ones_like(rest))
    made[:lost] = 0
    return made.float()


def _normal(x: torch.Tensor, *, above: float = 0.0) -> torch.Tensor:
    first = torch.linalg.eigh(x.double().mT @ x.double()).eigenvectors[..., 0]
    return torch.where(first[:, 3:] < above, -first, first).float()


def _with_zeros(setting: Setting, count: int, alike: int = 0) -> Case:
    """The first matrices are 0, the next have two equal columns, of which PyTorch itself knows as little."""
    x = setting.bases[0].values[0].clone()
    x[:count] = 0.0
    x[count : count + alike, :, 2] = x[count : count + alike, :, 1]
    return setting.case([x], "singular", 7)


@pytest.mark.parametrize(("result", "kernel"), [(Q, _q), (NORMAL, _normal)])
def test_factors_of_singular_matrices_are_anybodys_choice(
    prepared: Callable[..., Setting], result: str, kernel: Kernel
) -> None:
    setting = prepared(DRAWN.format(result=result))
    case = _with_zeros(setting, 5, 5)
    assert compare_factored([kernel(*case.values)], case, setting).passed


def test_a_sign_that_a_number_next_to_0_decides_is_anybodys_choice(prepared: Callable[..., Setting]) -> None:
    setting = prepared(DRAWN.format(result=NORMAL))
    x = setting.bases[0].values[0].clone()
    x[:40, :, 1] = 0.0
    for seed in range(8):
        firm = _where_firm(setting, setting.case([x], "flat", seed), {x.shape[:1]})
        assert firm is not None
        assert firm[0].all(-1).tolist() == [False] * 40 + [True] * 8


@pytest.mark.parametrize("number", [10, 47])
def test_one_wrong_matrix_beside_them_is_wrong(prepared: Callable[..., Setting], number: int) -> None:
    setting = prepared(DRAWN.format(result=Q))
    case = _with_zeros(setting, 5)
    wrong = _q(*case.values)
    wrong[number, 3, 2] += 0.01
    verdict = compare_factored([wrong], case, setting)
    assert not verdict.passed
    assert f"[{number}, 3, 2]" in verdict.detail


def test_what_is_a_choice_has_to_be_a_number(prepared: Callable[..., Setting]) -> None:
    setting = prepared(DRAWN.format(result=Q))
    case = _with_zeros(setting, 5)
    broken = _q(*case.values)
    broken[2, 3, 1] = float("nan")
    assert not compare_factored([broken], case, setting).passed


def test_what_singular_matrices_decide_is_compared(prepared: Callable[..., Setting]) -> None:
    """How long columns are that hang on no choice, and singular values."""
    setting = prepared(DRAWN.format(result="torch.linalg.svd(x).S"))
    case = _with_zeros(setting, 5)
    right = torch.linalg.svdvals(case.values[0].double()).float()
    assert compare_factored([right], case, setting).passed
    assert not compare_factored([right + 0.01], case, setting).passed


@pytest.mark.parametrize(
    ("result", "kernel"),
    [
        (NORMAL, _normal),
        (Q.replace("diagonal(dim1=-2, dim2=-1).sign()", "diagonal(dim1=-2, dim2=-1).lt(0).float().mul(-2).add(1)"), _q),
    ],
    ids=["a singular vector", "an orthogonal basis"],
)
def test_lines_of_a_number_that_factors_are_compared_with_may_make_matrices_singular(
    prepared: Callable[..., Setting], result: str, kernel: Kernel
) -> None:
    setting, found = prepared(DRAWN.format(result=result)), []
    for seed in range(24):
        probe = _asked_for(setting, setting.bases[0], random.Random(seed), in_stretches=True)
        assert probe is not None
        found.append(probe.compare([kernel(*probe.case.values)]).passed)
    assert all(found), found


@pytest.mark.parametrize(
    ("result", "kernel"), [(NORMAL, _normal), (Q, _q)], ids=["a singular vector", "an orthogonal basis"]
)
def test_an_honest_kernel_passes_all_probes(prepared: Callable[..., Setting], result: str, kernel: Kernel) -> None:
    setting = prepared(DRAWN.format(result=result))
    assert _failed(setting, kernel, 1) == set()


@pytest.mark.parametrize(
    ("result", "kernel"),
    [
        pytest.param(NORMAL, lambda x: _normal(x, above=0.05), id="another sign near 0"),
        pytest.param(NORMAL, lambda x: _normal(x[:, :11]), id="a point left out"),
        pytest.param(Q, lambda x: torch.linalg.qr(x).Q, id="signs left out"),
        pytest.param(Q, lambda x: _q(x, lost=1), id="a matrix left out"),
        pytest.param(
            "torch.linalg.qr(torch.where(x == -1.0, 3.0, x)).R.abs()",
            lambda x: torch.linalg.qr(x).R.abs(),
            id="a number left out",
        ),
    ],
)
def test_what_is_left_out_shows_in_probes(prepared: Callable[..., Setting], result: str, kernel: Kernel) -> None:
    assert _failed(prepared(DRAWN.format(result=result)), kernel, 1)


def _failed(setting: Setting, kernel: Kernel, seeds: int) -> set[str]:
    found = [probe for seed in range(seeds) for probe in probes_in_any_order(setting, random.Random(seed))]
    return {probe.case.label for probe in found if not probe.compare([kernel(*probe.case.values)]).passed}
