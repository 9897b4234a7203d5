"""Where one kernel tells how far results are from PyTorch's own, verdicts are those of PyTorch's operators."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line
from test_kept_calls import CLOSELY, call, said_of

torch = pytest.importorskip("torch")

from kernwright.evaluation.errors import distance, nearness  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.errors.nearness import error_if_near  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.timing import kept_calls  # noqa: E402
from kernwright.evaluation.timing.kept_calls import compare_all  # noqa: E402

ROWS = one_line("x", "{drawn}", "x.softmax(-1)")
Kernel = Callable[[torch.Tensor], torch.Tensor]


def told_by_operators(got: torch.Tensor, own: torch.Tensor) -> torch.Tensor | None:
    """As a device's kernel: in one pass there, in several here."""
    if got.dtype != torch.float32 or got.dtype != own.dtype or not (got.is_contiguous() and own.is_contiguous()):
        return None
    off = got - own
    share = torch.where(off == 0, 0.0, (off / own).abs())
    return torch.stack([off.square().sum(), off.abs().max(), own.square().sum(), own.abs().max(), share.max()]).double()


@pytest.fixture
def by_one_kernel(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many times it was asked."""
    asked: list[int] = []

    def measure(got: torch.Tensor, own: torch.Tensor) -> torch.Tensor | None:
        told = told_by_operators(got, own)
        asked.extend([1] * (told is not None))
        return told

    monkeypatch.setitem(distance._measures, "cpu", measure)
    return asked


KERNELS: dict[str, Kernel] = {
    "as PyTorch": lambda x: x.softmax(-1),
    "in float64": lambda x: x.double().softmax(-1).float(),
    "by hand": lambda x: x.exp() / x.exp().sum(-1, keepdim=True),
    "a hundredth more": lambda x: x.softmax(-1) * 1.01,
    "one row of nothing": lambda x: x.softmax(-1).index_fill(0, torch.tensor([3]), 0.0),
    "one number missing": lambda x: x.softmax(-1).index_fill(1, torch.tensor([3]), torch.nan),
    "one number infinite": lambda x: x.softmax(-1).index_fill(1, torch.tensor([3]), torch.inf),
    "the small ones nothing": lambda x: x.softmax(-1).where(x > -1, 0.0),
}


@pytest.mark.parametrize("drawn", ["torch.randn(40, 70)", "60 * torch.randn(40, 70)", "torch.randn(64, 2048)"])
@pytest.mark.parametrize("name", [*KERNELS])
def test_what_it_accepts_operators_accept(
    prepared: Callable[..., Setting], by_one_kernel: list[int], monkeypatch: pytest.MonkeyPatch, drawn: str, name: str
) -> None:
    setting, kernel = prepared(ROWS.format(drawn=drawn)), KERNELS[name]
    problem = setting.reference.problem
    calls = [call(setting, seed, kernel) for seed in range(3)]
    cases = [setting.case(each.values, "by hand", 0) for each in calls]
    quick = [error_if_near(each.outputs, case, problem) for each, case in zip(calls, cases, strict=True)]
    assert by_one_kernel
    monkeypatch.delitem(distance._measures, "cpu")
    slow = [error_if_near(each.outputs, case, problem) for each, case in zip(calls, cases, strict=True)]
    for one, other, each, case in zip(quick, slow, calls, cases, strict=True):
        if one is None:
            assert other is None
        elif other is None:  # nothing is left there beside the largest numbers
            assert compare(each.outputs, case, problem).passed
        else:
            assert one >= 0.99 * other  # beside tails it says the most that it may be


@pytest.mark.parametrize("name", ["a hundredth more", "one number missing", "one number infinite"])
def test_one_that_is_wrong_is_found(prepared: Callable[..., Setting], by_one_kernel: list[int], name: str) -> None:
    setting = prepared(ROWS.format(drawn="torch.randn(40, 70)"))
    right = [call(setting, seed, KERNELS["in float64"]) for seed in range(3)]
    compare_all(right, CLOSELY, {})
    assert "output 0 at" in said_of([*right, call(setting, 9, KERNELS[name])])


def test_parts_are_not_summed_where_no_number_is_off(
    prepared: Callable[..., Setting], by_one_kernel: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = prepared(ROWS.format(drawn="torch.randn(40, 70)"))
    monkeypatch.setattr(kept_calls, "parts_near", lambda *_: pytest.fail("every number is near"))
    compare_all([call(setting, seed, KERNELS["by hand"]) for seed in range(3)], CLOSELY, {})


def test_a_part_that_is_nothing_is_seen(prepared: Callable[..., Setting], by_one_kernel: list[int]) -> None:
    """Its rows are so small that the whole hides them."""
    source = one_line("x", "torch.randn(40, 70) * 10.0 ** -(torch.arange(40)[:, None] / 4)", "x * 2")
    setting = prepared(source)

    def first_rows(x: torch.Tensor) -> torch.Tensor:
        made = x * 2
        made[30:] = 0.0
        return made

    assert "off by 100%" in said_of([call(setting, 1, first_rows)])


def test_nobody_looks_for_the_largest_where_all_are_near(
    prepared: Callable[..., Setting], by_one_kernel: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of rows with one number that is nearly all, few numbers are most of the size."""
    setting = prepared(ROWS.format(drawn="torch.randn(64, 2048) + 30 * torch.eye(64, 2048)"))
    monkeypatch.setattr(nearness, "largest_of", lambda *_: pytest.fail("every number is near"))
    values = setting.drawn(random.Random(1))
    case = setting.case(values, "by hand", 0)
    assert error_if_near([values[0].double().softmax(-1).float()], case, setting.reference.problem) is not None


def test_the_kernel_compiles_for_several_devices() -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    from kernwright.platforms.cuda_distance import _cubin

    sizes = []
    for arch in ("sm_80", "sm_90"):
        try:
            sizes.append(len(_cubin(arch)))
        except RuntimeError as error:
            if "NVRTC said" in str(error):
                raise
            pytest.skip(f"the library is not here: {error}")
    assert min(sizes) > 1000
