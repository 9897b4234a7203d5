"""Where a problem leaves a choice, or an input of a problem loses its meaning, nobody is refused for it."""

import random
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.core.errors import UserError  # noqa: E402
from kernwright.core.problem import Problem, Rules, Workload  # noqa: E402
from kernwright.evaluation.calls import calls_of  # noqa: E402
from kernwright.evaluation.checks.extremes import EQUAL  # noqa: E402
from kernwright.evaluation.checks.extremes import cases as extremes  # noqa: E402
from kernwright.evaluation.checks.held_result import HeldResult  # noqa: E402
from kernwright.evaluation.errors.choices import compare_chosen, compare_decided  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.problem.reference import Reference  # noqa: E402
from kernwright.evaluation.problem.setting import Setting, scaled  # noqa: E402
from kernwright.evaluation.trial import Trial  # noqa: E402

SOURCE = one_line("x", "{drawn}", backward="{backward}")
Made = Callable[..., Setting]


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Made:
    def make(result: str, drawn: str = "torch.randn(64, 48)", *, backward: bool = False) -> Setting:
        return prepared(SOURCE.format(result=result, drawn=drawn, backward=backward), backward=backward)

    return make


def _refused(setting: Setting, kernel: Callable[[torch.Tensor], list[torch.Tensor]], label: str) -> list[str]:
    found = []
    for seed in range(4):
        for probe in probes(setting, random.Random(seed)):
            if probe.case.label == label:
                found.append(probe.compare(kernel(*probe.case.values)).detail)
    assert found
    return [detail for detail in found if detail]


def _by_sorting(x: torch.Tensor) -> list[torch.Tensor]:
    values, places = x.sort(dim=-1, descending=True, stable=True)
    return [values[:, :5], places[:, :5]]


@pytest.mark.parametrize("label", ["small integers", "ties", "infinities"])
def test_which_of_equal_numbers_is_taken_is_a_choice(setting_of: Made, label: str) -> None:
    setting = setting_of("x.topk(5, -1)")
    assert not _refused(setting, _by_sorting, label)
    assert _refused(setting, lambda x: _by_sorting(x * x.abs()), label) or label == "infinities"


def _one_equal_pair() -> torch.Tensor:
    """Of the largest five of a row the second and third are equal; no others are next to each other."""
    x = (torch.randperm(64 * 512, generator=torch.Generator().manual_seed(1)).view(64, 512) + 1) / (64 * 512)
    places = x.topk(3, -1).indices[7]
    x[7, places[2]] = x[7, places[1]]
    return x


def test_of_a_few_equal_numbers_of_a_draw_any_is_taken(setting_of: Made) -> None:
    setting = setting_of("x.topk(5, -1)", "torch.randn(64, 512)")
    case = setting.case([_one_equal_pair()], "generator", 0)
    values, places = case.native
    other = places.clone()
    other[7, 1], other[7, 2] = places[7, 2], places[7, 1]
    assert not compare([values, other], case, setting.reference.problem).passed
    assert compare_chosen([values, other], case, setting).passed
    wrong = [places.clone() for _ in range(2)]
    wrong[0][7, 0], wrong[1][9, 1] = places[7, 1], places[9, 2]
    for each in wrong:
        assert not compare_chosen([values, each], case, setting).passed
    assert not compare_chosen([values * 1.001, other], case, setting).passed


def test_where_many_numbers_are_equal_nobody_is_excused_by_that(setting_of: Made) -> None:
    setting = setting_of("x.topk(5, -1)", "torch.randn(64, 512)")
    case = setting.case([_one_equal_pair().mul(20).round()], "generator", 0)
    values, places = case.native
    assert not compare_chosen([values, places.flip(0)], case, setting).passed


def test_a_sum_hangs_on_no_choice(setting_of: Made) -> None:
    setting = setting_of("x.sum(-1)", "torch.randn(64, 512)")
    case = setting.case([_one_equal_pair()], "generator", 0)
    off = case.native[0].clone()
    off[7] += 1
    assert not compare_chosen([off], case, setting).passed


def test_what_is_taken_along_with_it_too(setting_of: Made) -> None:
    setting = setting_of("x.roll(1, 1).gather(1, x.argmax(-1, keepdim=True))", "torch.randn(16, 4096)")
    seen = 0
    for seed in range(6):
        for case in extremes(setting, random.Random(seed)):
            if case.label == EQUAL:
                x, seen = case.values[0], seen + 1
                last = x.shape[1] - 1 - x.flip(1).argmax(-1, keepdim=True)
                assert compare_decided([x.roll(1, 1).gather(1, last)], case, setting).passed
    assert seen


def test_the_place_of_what_is_no_number_is_nobodys(setting_of: Made) -> None:
    setting = setting_of("x.log().argmax(-1)", "torch.rand(64, 48)")
    for seed in range(4):
        case = scaled(setting, random.Random(seed))
        assert case is None or bool((case.values[0] >= 0).all())
    kernel = lambda x: [x.argmax(-1)]  # noqa: E731
    for probe in probes(setting, random.Random(0)):
        assert probe.compare(kernel(*probe.case.values)).passed, probe.case.label


def test_sums_whose_terms_cancel_are_right_in_any_order(setting_of: Made) -> None:
    setting = setting_of("(x * x.roll(1)).sum()", "torch.randn(65536)")

    def right(kernel: Callable[[torch.Tensor], torch.Tensor]) -> int:
        found = 0
        for seed in range(60):
            values = setting.drawn(random.Random(seed))
            case = setting.case(values, "a draw", seed)
            found += compare([kernel(*values)], case, setting.reference.problem, setting.names).passed
        return found

    assert right(lambda x: (x[None] @ x.roll(1)[:, None])[0, 0]) == 60
    assert right(lambda x: torch.dot(x, x.roll(1))) == 60
    assert right(lambda x: (x.bfloat16().float() * x.roll(1)).sum()) < 10
    assert right(lambda x: 2 * (x * x.roll(1))[::2].sum()) == 0


def test_directions_are_not_the_first_input(setting_of: Made) -> None:
    setting = setting_of("torch.softmax(x, -1)", backward=True)
    for base in setting.bases:
        x, along = base.values
        assert not torch.equal(x, along)


def test_views_of_inputs_change_with_them(setting_of: Made) -> None:
    setting = setting_of("(x * 2, x[:9])")

    def held(outputs: Callable[[list[torch.Tensor]], list[torch.Tensor]]) -> bool:
        trial = Trial(setting, None, Rules(), random.Random(0))  # type: ignore[arg-type]
        fake = SimpleNamespace(setting=setting, rules=trial.rules, judge=trial.judge, kept=lambda: setting.bases[1])
        fake.held = lambda *, restored: outputs(setting.bases[1].values)
        fake.moving_with = lambda *_: []
        return HeldResult().verify(fake).passed

    later = torch.randn(9, 48)
    assert held(lambda values: [values[0] * 2, later])
    assert not held(lambda values: [torch.randn(64, 48), later])


@pytest.mark.parametrize(
    ("drawn", "said"),
    [
        (
            "torch.randn(8, 8), torch.randn(8).max(0)",
            "give tensors, None, numbers, strings, and lists, tuples or dicts",
        ),
        ("torch.randn(8, 8).to_sparse()", "input 0 of get_inputs() is a tensor of torch.sparse_coo"),
    ],
)
def test_inputs_that_cannot_be_passed_on_are_told_of(drawn: str, said: str) -> None:
    source = SOURCE.format(result="x", drawn=drawn, backward=False)
    reference = Reference(Problem(name="p", source=source, workloads=(Workload(name="w"),)))
    with pytest.raises(UserError) as caught:
        calls_of(reference)
    reference.close()
    assert said in str(caught.value)
