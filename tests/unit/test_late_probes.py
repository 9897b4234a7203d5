"""Probes that come among the timed calls."""

import gc
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain
from types import SimpleNamespace
from typing import Any, cast
from weakref import ref

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.core.outcome import Crashed, Wrong  # noqa: E402
from kernwright.evaluation.ended import Ended  # noqa: E402
from kernwright.evaluation.errors.comparison import Verdict  # noqa: E402
from kernwright.evaluation.footprint import LEAST_LATE  # noqa: E402
from kernwright.evaluation.naming import naming  # noqa: E402
from kernwright.evaluation.participants.opening import lies_otherwise  # noqa: E402
from kernwright.evaluation.probes.late_probes import MOST, LateProbes, LateTurns, asked, forget_probes, kept_probes  # noqa: E402
from kernwright.evaluation.probes.probe import Probe  # noqa: E402
from kernwright.evaluation.problem.cases import Ready  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.runner.gradients import FEW, differentiated  # noqa: E402
from kernwright.evaluation.timing.kept_calls import KeptCall, compare_all  # noqa: E402
from kernwright.evaluation.timing.statistics import ABBA  # noqa: E402

SQUARES = one_line("x", "{drawn}", "{result}")
ROOM = 1 << 30


def probe(number: int, *, passes: bool = True) -> Probe:
    value = torch.full((4,), float(number))
    case = Ready([value], [value], [value.double()], f"number {number}", number)
    return Probe(case, lambda outputs: Verdict(passed=passes, ratio=0.5, detail="" if passes else "it is wrong"))


class Trial:
    """Of a candidate that writes down what it is asked."""

    def __init__(self, late: LateProbes | None, seed: int = 1) -> None:
        self.rng, self.asked = random.Random(seed), list[str]()
        self.gave_way = 0
        self.setting = SimpleNamespace(late=late)

    def give_way(self) -> None:
        self.gave_way += 1

    def run_case(self, case: Any) -> list[Any]:
        self.asked.append(case.label)
        return []

    def judge(self, outputs: list[Any], case: Any, rule: Any) -> Verdict:
        return cast(Verdict, rule(outputs))


def test_most_probes_are_kept_from_the_checks_and_the_others_are_remembered() -> None:
    late = LateProbes(ROOM)
    trial = Trial(late)
    for number in range(2 * MOST):
        assert asked(cast(Any, trial), probe(number)).passed
    assert trial.gave_way == 2 * MOST, "for those too that are not asked"
    unseen = {each.case.label for each in late.unseen}
    assert len(unseen) == MOST
    assert unseen.isdisjoint(trial.asked)
    assert unseen | {*trial.asked} == {f"number {number}" for number in range(2 * MOST)}
    assert {each.case.label for each in late.seen} <= {*trial.asked}
    assert len(late.seen) > 0
    later = [each() for each in kept_probes(cast(Any, trial.setting), random.Random(1), None)]
    assert {each.case.label for each in later if each is not None} == {
        each.case.label for each in (*late.unseen, *late.seen)
    }
    fewer = [each() for each in kept_probes(cast(Any, trial.setting), random.Random(1), MOST)]
    assert {each.case.label for each in fewer if each is not None} == unseen


def test_what_was_wrong_is_not_asked_again() -> None:
    late = LateProbes(ROOM)
    verdicts = [asked(cast(Any, Trial(late, number)), probe(number, passes=False)) for number in range(20)]
    assert [verdict.passed for verdict in verdicts].count(False) + len(late.unseen) == 20
    assert len(late.unseen) < 20
    assert late.seen == []


def test_the_last_is_kept_as_often_as_the_first() -> None:
    kept = Counter[str]()
    for seed in range(300):
        late = LateProbes(ROOM)
        trial = Trial(late, seed)
        for number in range(4 * MOST):
            asked(cast(Any, trial), probe(number))
        kept.update(each.case.label for each in late.unseen)
    quarters = [sum(kept[f"number {n}"] for n in range(q * MOST, (q + 1) * MOST)) for q in range(4)]
    assert min(quarters) > 0.85 * max(quarters)


def test_without_room_all_are_for_the_checks() -> None:
    for late, kept in ((None, 0), (LateProbes(10), LEAST_LATE)):
        trial = Trial(late)
        for number in range(20):
            asked(cast(Any, trial), probe(number))
        assert len(trial.asked) == 20 - kept
        assert late is None or (len(late.unseen) == kept and not late.seen)


def turns(seed: int, *, more: bool) -> LateTurns:
    probes = [partial(probe, number) for number in range(6)]
    return LateTurns(probes, 8, random.Random(seed), more=more)


def numbers(late: LateTurns, blocks: range) -> list[tuple[int, ...]]:
    called = ([each() for each in late.before(block, turn)] for block in blocks for turn in range(ABBA))
    return [tuple(each.case.seed for each in turn if each is not None) for turn in called]


def test_each_comes_once_among_the_turns_and_not_always_at_the_same() -> None:
    found = [numbers(turns(seed, more=False), range(8)) for seed in range(20)]
    assert all(sorted(chain.from_iterable(each)) == [*range(6)] for each in found)
    assert len({tuple(map(len, each)) for each in found}) > 10
    assert turns(0, more=False).go_on(8) == []


def test_others_are_called_as_often_but_not_at_the_same_turns() -> None:
    """A candidate sees how long others take: it would know when probes come next."""
    together = 0
    for seed in range(20):
        late = turns(seed, more=True)
        late.go_on(12)
        own = [*map(len, numbers(late, range(12)))]
        others = [late.others(block, turn) for block in range(12) for turn in range(ABBA)]
        assert sum(others) == sum(own) == 6
        assert sum(others[: 8 * ABBA]) == sum(own[: 8 * ABBA])
        together += sum(1 for mine, theirs in zip(own, others, strict=True) if mine and theirs)
        assert late.others(12, 0) == 0
    assert together < 60


def test_some_come_after_the_blocks_of_the_plan() -> None:
    for seed in range(20):
        late = turns(seed, more=True)
        first = [*chain.from_iterable(numbers(late, range(8)))]
        assert len(first) == 4
        assert numbers(late, range(8, 30)) == [()] * 44
        if seed % 2:
            left = [each() for each in late.go_on(8)]
            rest = [each.case.seed for each in left if each is not None]
        else:
            assert late.go_on(30) == ()
            rest = [*chain.from_iterable(numbers(late, range(8, 30)))]
        assert sorted([*first, *rest]) == [*range(6)]


@pytest.mark.parametrize("forgotten", [True, False])
def test_what_is_forgotten_keeps_no_memory_until_somebody_collects_it(
    prepared: Callable[..., Setting], forgotten: bool
) -> None:
    setting = replace(prepared(SQUARES.format(drawn="torch.randn(4, 8)", result="x * x")), late=LateProbes(ROOM))
    assert setting.late is not None
    one = probe(1)
    setting.late.remember(Probe(one.case, partial(_passes, setting)))
    value = ref(one.case.values[0])
    gc.disable()
    try:
        if forgotten:
            forget_probes([setting])
        del one, setting
        assert (value() is None) is forgotten
    finally:
        gc.enable()


def _passes(setting: Setting, outputs: list[torch.Tensor]) -> Verdict:
    return Verdict(passed=True, ratio=0.0)


def test_a_timed_call_that_fails_a_probe_is_wrong(prepared: Callable[..., Setting]) -> None:
    setting = prepared(SQUARES.format(drawn="torch.randn(4, 8)", result="x * x"))
    true = torch.ones(1, dtype=torch.bool)
    for passes in (True, False):
        one = probe(7, passes=passes)
        call = KeptCall(setting, cast(Any, None), 0, one.case.values, [], None, true, one)
        if passes:
            compare_all([call], random.Random(0), {})
            continue
        with pytest.raises(Ended) as ended:
            compare_all([call], random.Random(0), {})
        assert isinstance(ended.value.outcome, Wrong)
        said = f"timed call, workload {setting.workload.name!r}, inputs number 7, seed 7: it is wrong"
        assert ended.value.outcome.reason == said


def test_who_dies_of_a_probe_is_told_which_it_was() -> None:
    with pytest.raises(Ended) as ended, naming("large", probe(3).case):
        raise Ended(Crashed(stage="call", log="", reason="it died in call"))
    assert (
        getattr(ended.value.outcome, "reason", "") == "it died in call; given workload 'large', inputs number 3, seed 3"
    )


class _Destroys(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.result = x * 2
        return cast(torch.Tensor, ctx.result)

    @staticmethod
    def backward(ctx: Any, along: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        ctx.result.detach().zero_()
        return along * 2


class _FillsIn(_Destroys):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.x, ctx.result = x.detach(), torch.empty_like(x)
        return cast(torch.Tensor, ctx.result)

    @staticmethod
    def backward(ctx: Any, along: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        torch.mul(ctx.x, 2, out=ctx.result.detach())
        return along * 2


@pytest.mark.parametrize("function", [_Destroys, _FillsIn])
def test_a_result_is_right_before_and_after_going_backward(function: Any) -> None:
    x = torch.randn(64)
    assert x.numel() <= FEW
    call = differentiated(function.apply, [], [0])
    right = [torch.equal(call(x, torch.ones(64))[0], 2 * x) for _ in range(40)]
    assert 5 <= sum(right) <= 35


@pytest.mark.parametrize(
    ("result", "strides", "is_told"),
    [
        pytest.param("x.t().contiguous()", [8, 1], False, id="as the reference's"),
        pytest.param("x.t().contiguous()", [1, 4], True, id="turned"),
        pytest.param("x.t()", [1, 4], False, id="turned by the reference too"),
        pytest.param("x.t()[:1]", [1, 4], False, id="an axis of one"),
        pytest.param("x.t()", None, False, id="nonsense"),
    ],
)
def test_how_a_result_lies_is_told(
    prepared: Callable[..., Setting], result: str, strides: list[int] | None, is_told: bool
) -> None:
    setting = prepared(SQUARES.format(drawn="torch.randn(8, 4)", result=result))
    shape = list(setting.output_shapes[0])
    said = lies_otherwise([["Tensor", "float32", shape, strides, "cpu"]], setting)
    assert bool(said) is is_told
    assert not is_told or "lies in memory otherwise" in said
