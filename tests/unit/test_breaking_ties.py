"""Of numbers that are exactly equal a kernel may choose others than the reference does, if it does so throughout."""

import random
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.checks import extremes, integers  # noqa: E402
from kernwright.evaluation.ended import Ended  # noqa: E402
from kernwright.evaluation.errors.breaking_ties import otherwise_chosen  # noqa: E402
from kernwright.evaluation.errors.choices import compare_chosen  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.errors.gross import is_bearable  # noqa: E402
from kernwright.evaluation.errors.slices import parts_met  # noqa: E402
from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.problem.cases import Case  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.spending import Spending  # noqa: E402
from kernwright.evaluation.timing.kept_calls import require_right  # noqa: E402

Made = Callable[..., Setting]
Order = Callable[[torch.Tensor], torch.Tensor]
KEPT, SHARES = 8, "(3 * x[:, :4]).softmax(-1)"
EXPERTS = f"(lambda p: torch.zeros_like(p).scatter(0, p.topk({KEPT}, 0)[1], p.topk({KEPT}, 0)[0]).T @ x[:, 4:])"
DRAWN = "torch.randn(64, 24)"


def first(p: torch.Tensor) -> torch.Tensor:
    """Places along the first axis, the largest number first, of equal ones the first."""
    return p.argsort(dim=0, descending=True, stable=True)


def last(p: torch.Tensor) -> torch.Tensor:
    """The same, of equal ones the last."""
    return len(p) - 1 - first(p.flip(0))


def first_of_each(p: torch.Tensor) -> torch.Tensor:
    """The first place of each of the largest numbers: that of equal ones again and again."""
    return (p[None] == p.topk(KEPT, 0).values[:, None]).float().argmax(1)


def always_the_first(p: torch.Tensor) -> torch.Tensor:
    """Place 0 wherever a share is 1."""
    places = first(p)
    return torch.where(p.gather(0, places) == 1, 0, places)


def without_the_largest(p: torch.Tensor) -> torch.Tensor:
    return first(p)[1:]


def experts(order: Order) -> Callable[[torch.Tensor], list[torch.Tensor]]:
    """Adds up the tokens whose places come first in this order, as often as they do, by their shares."""

    def kernel(x: torch.Tensor) -> list[torch.Tensor]:
        p = (3 * x[:, :4]).softmax(-1)
        places = order(p)[:KEPT]
        return [torch.zeros_like(p).scatter_add_(0, places, p.gather(0, places)).T @ x[:, 4:]]

    return kernel


def from_the_least_on(x: torch.Tensor) -> list[torch.Tensor]:
    """Every share from the smallest of the largest on, more than there is room for where some are equal."""
    p = (3 * x[:, :4]).softmax(-1)
    return [torch.where(p >= p.topk(KEPT, 0).values[-1], p, 0).T @ x[:, 4:]]


@pytest.fixture
def setting_of(prepared: Made) -> Made:
    def make(result: str, names: str = "x", drawn: str = DRAWN, *, backward: bool = False) -> Setting:
        return prepared(one_line(names, drawn, result, backward=str(backward)), backward=backward)

    return make


@pytest.fixture
def routed(setting_of: Made) -> tuple[Setting, Case]:
    """64 tokens, of which each of four experts takes eight; all but three have a share of 1 with one of these."""
    setting = setting_of(f"{EXPERTS}({SHARES})")
    x = torch.randn(64, 24, generator=torch.Generator().manual_seed(5))
    x[3:, :4] = 200 * torch.nn.functional.one_hot(torch.arange(61) % 4, 4)
    return setting, setting.case([x], "saturated", 0)


@pytest.mark.parametrize("order", [first, last])
def test_of_tokens_whose_shares_are_1_the_first_or_the_last_are_taken(
    routed: tuple[Setting, Case], order: Order
) -> None:
    setting, case = routed
    outputs = experts(order)(*case.values)
    assert not compare(outputs, case, setting.reference.problem).passed
    assert compare_chosen(outputs, case, setting).passed
    assert parts_met(setting, case, outputs).passed
    require_right(setting, case.values, outputs, closely=True)


@pytest.mark.parametrize("order", [first_of_each, always_the_first, without_the_largest])
def test_no_token_is_taken_twice_or_left_out(routed: tuple[Setting, Case], order: Order) -> None:
    setting, case = routed
    outputs = experts(order)(*case.values)
    assert not compare_chosen(outputs, case, setting).passed
    with pytest.raises(Ended):
        require_right(setting, case.values, outputs)


def test_nor_are_more_taken_than_there_is_room_for(routed: tuple[Setting, Case]) -> None:
    setting, case = routed
    assert not compare_chosen(from_the_least_on(*case.values), case, setting).passed


def test_a_choice_is_one_throughout(setting_of: Made) -> None:
    setting = setting_of("x.clamp(-1, 1).topk(5, 0)[1], x.gather(0, x.clamp(-1, 1).topk(5, 0)[1])")
    case = setting.bases[0]
    places, others = (order(case.values[0].clamp(-1, 1))[:5] for order in (first, last))
    numbers = case.values[0].gather(0, places)
    assert compare_chosen([places, numbers], case, setting).passed
    assert not compare_chosen([others, numbers], case, setting).passed
    again = places.clone()
    again[1] = places[0]
    assert not compare_chosen([again, case.values[0].gather(0, again)], case, setting).passed


def test_numbers_that_are_nearly_equal_leave_no_choice(setting_of: Made) -> None:
    setting = setting_of("x.clamp(-1, 1).topk(5, 0)[1]")
    x = torch.linspace(0.5, 0.9, 64)[torch.randperm(64, generator=torch.Generator().manual_seed(1))]
    x = x[:, None].expand(64, 24).contiguous()
    largest = first(x)[:5]
    x.scatter_(0, largest, torch.full_like(x, 0.95))
    case = setting.case([x], "equal", 0)
    assert compare_chosen([last(x)[:5]], case, setting).passed
    assert compare_chosen([first(x)[:5]], case, setting).passed
    x = x.clone()
    x.scatter_(0, largest[:1], torch.nextafter(torch.tensor(0.95), torch.tensor(1.0)).expand(1, 24))
    case = setting.case([x], "one of them a last digit larger", 0)
    assert compare_chosen([first(x)[:5]], case, setting).passed
    wrong = last(x.clamp(max=0.95))[:5]
    assert not torch.equal(wrong, last(x)[:5])
    assert not compare_chosen([wrong], case, setting).passed


@pytest.mark.parametrize(
    ("result", "kernel"),
    [
        ("x.sigmoid().argmax(0)", lambda places: places[0]),
        ("x.sigmoid().max(0)[1]", lambda places: places[0]),
        ("x.sigmoid().argsort(dim=0, descending=True, stable=True)", lambda places: places),
        ("x.sigmoid().sort(dim=0, stable=True, descending=True)[1]", lambda places: places),
    ],
)
def test_where_it_is_said_which_one_is_taken_it_is_that(setting_of: Made, result: str, kernel: Order) -> None:
    setting = setting_of(result)
    case = setting.case([setting.bases[0].values[0].abs() * 50], "saturated", 0)
    shares = case.values[0].sigmoid()
    assert compare_chosen([kernel(first(shares))], case, setting).passed
    assert not compare_chosen([kernel(last(shares))], case, setting).passed


def test_the_oracle_takes_those_that_are_equal_in_the_references_own_precision(setting_of: Made) -> None:
    setting = setting_of("x.gather(0, (x[:, 0] + 20).sigmoid().topk(9)[1][:, None].expand(9, 24))")
    x = torch.rand(64, 24, generator=torch.Generator().manual_seed(2))
    case = setting.case([x], "saturated in float32", 0)
    assert not is_bearable(case.native, case.oracle)
    found = [*otherwise_chosen(case, setting)]
    for each, places in zip(found, (range(9), range(63, 54, -1)), strict=True):
        assert torch.equal(each.native[0], x[places])
        assert is_bearable(each.native, each.oracle)


def test_what_is_made_later_is_chosen_otherwise_and_what_was_is_not_again(setting_of: Made) -> None:
    setting = setting_of("x.clamp(-0.1, 0.1).topk(5, 0)[1]")
    found = [*otherwise_chosen(setting.another(random.Random(0)), setting)]
    assert found
    assert not [again for each in found for again in otherwise_chosen(each, setting)]


def test_numbers_that_come_out_as_exactly_may_be_others(setting_of: Made) -> None:
    setting = setting_of("y.gather(0, x.relu().sort(dim=0, descending=True)[1])", "x, y", f"{DRAWN} - 1, {DRAWN}")
    asked = set()
    for probe in probes(setting, random.Random(0)):
        x, y = probe.case.values
        taken = y.gather(0, last(x.relu()))
        assert probe.compare([taken]).passed, probe.case.label
        if not probe.compare([taken.roll(1, 0)]).passed:
            asked.add(probe.case.label)
    assert {"generator", "uneven", "an input shifted"} <= asked


def test_integers_too(setting_of: Made) -> None:
    setting = setting_of("y.gather(0, x.topk(5, 0)[1]).sum(0)", "x, y", f"torch.randint(0, 9, (64, 24)), {DRAWN}")
    seen = 0
    for case in integers.cases(setting, random.Random(0), Spending()):
        x, y = case.values
        seen += 1
        assert integers.compared(setting, case, [y.gather(0, last(x)[:5]).sum(0)]).passed, case.label
        assert not integers.compared(setting, case, [y.gather(0, last(x)[1:6]).sum(0)]).passed, case.label
    assert seen


def test_who_chooses_otherwise_may_lose_digits_where_others_may(routed: tuple[Setting, Case]) -> None:
    setting, case = routed

    def refused(order: Order, lost: float) -> bool:
        outputs = [t * (1 + lost) for t in experts(order)(*case.values)]
        trial = SimpleNamespace(setting=setting, run_case=lambda _: outputs)
        trial.judge = lambda outputs, case, rule: rule(outputs) if rule else compare_chosen(outputs, case, setting)
        verdict, error = extremes._judged(trial, case)
        return not verdict.passed and not error <= extremes.GROSS

    assert not refused(last, 0.01)
    assert refused(last, 0.1)
    assert refused(first_of_each, 0.0)


def test_gradients_go_where_the_choice_does(setting_of: Made) -> None:
    setting = setting_of("x.gather(0, (50 * x).clamp(-1, 1).topk(5, 0)[1])", backward=True)
    case = setting.bases[0]
    x, along = case.values
    one, other = (order((50 * x).clamp(-1, 1))[:5] for order in (first, last))

    def passes(taken: torch.Tensor, moved: torch.Tensor) -> bool:
        outputs = [x.gather(0, taken), torch.zeros_like(x).scatter(0, moved, along)]
        return compare_chosen(outputs, case, setting).passed

    assert passes(one, one)
    assert passes(other, other)
    assert not passes(one, other)
