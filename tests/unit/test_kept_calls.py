"""Timed calls are compared together, and one that is wrong among many is found as if it were alone."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.core.outcome import Wrong  # noqa: E402
from kernwright.evaluation.ended import Ended  # noqa: E402
from kernwright.evaluation.participants.participant import Participant  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.timing import kept_calls  # noqa: E402
from kernwright.evaluation.timing.kept_calls import KeptCall, compare_all  # noqa: E402

SOURCE = one_line("x, n", "{drawn}, 3", "{result}")
ALL = torch.ones(2, dtype=torch.bool)


class Always(random.Random):
    """Draws this number."""

    def __init__(self, number: float) -> None:
        super().__init__(0)
        self.number = number

    def random(self) -> float:
        return self.number


CLOSELY, NOT_CLOSELY = Always(0.0), Always(0.99)


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Callable[[str, str], Setting]:
    return lambda result, drawn: prepared(SOURCE.format(result=result, drawn=drawn))


def call(setting: Setting, seed: int, kernel: Callable[..., Any]) -> KeptCall:
    values = setting.drawn(random.Random(seed))
    made = kernel(*values)
    outputs = list(made) if isinstance(made, tuple) else [made]
    return KeptCall(setting, cast(Participant, None), 0, values, outputs, None, ALL)


def said_of(calls: list[KeptCall], rng: random.Random = CLOSELY) -> str:
    with pytest.raises(Ended) as ended:
        compare_all(calls, rng, {})
    assert isinstance(ended.value.outcome, Wrong)
    return ended.value.outcome.reason


def test_of_right_ones_nothing_is_asked_twice(
    setting_of: Callable[[str, str], Setting], monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = setting_of("(x.softmax(-1), x.argmax(-1), x[0] > n)", "torch.randn(40, 70)")
    monkeypatch.setattr(kept_calls, "require_right", lambda *_, **__: pytest.fail("it was near enough"))
    kernel = lambda x, n: (x.softmax(-1), x.argmax(-1), x[0] > n)  # noqa: E731
    compare_all([call(setting, seed, kernel) for seed in range(6)], CLOSELY, {})
    compare_all([], CLOSELY, {})


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (lambda x, n: (x.softmax(-1).mul_(1.01), x.argmax(-1)), "output 0 at"),
        (lambda x, n: (x.softmax(-1), x.argmin(-1)), "output 1 at"),
        (lambda x, n: (x.softmax(-1).index_fill_(0, torch.tensor([7]), torch.nan), x.argmax(-1)), "got nan"),
    ],
)
def test_one_that_is_wrong_is_found_among_others(
    setting_of: Callable[[str, str], Setting], kernel: Callable[..., Any], said: str
) -> None:
    setting = setting_of("(x.softmax(-1), x.argmax(-1))", "torch.randn(40, 70)")
    right = [call(setting, seed, lambda x, n: (x.softmax(-1), x.argmax(-1))) for seed in range(4)]
    compare_all(right, NOT_CLOSELY, {})
    reason = said_of([*right, call(setting, 5, kernel), *right], NOT_CLOSELY)
    assert reason.startswith("timed call on workload 'w': output")
    assert said in reason


def test_who_changes_an_input_is_named(setting_of: Callable[[str, str], Setting]) -> None:
    setting = setting_of("x * n", "torch.randn(40, 70)")
    calls = [call(setting, seed, lambda x, n: x * n) for seed in range(3)]
    calls[1] = replace(calls[1], unchanged=torch.tensor([False, True]))
    assert said_of(calls) == "a timed call changed input 0 of workload 'w'"


def test_parts_are_looked_at_of_some(setting_of: Callable[[str, str], Setting]) -> None:
    drawn = "torch.randn(256, 64) * torch.logspace(-4, 4, 64)"
    setting = setting_of("x * n", drawn)
    without_small = lambda x, n: torch.where(torch.arange(64) < 8, 0.0, x * n)  # noqa: E731
    calls = [call(setting, seed, without_small) for seed in range(3)]
    compare_all(calls, NOT_CLOSELY, {})
    assert "of its own size" in said_of(calls, CLOSELY)
