"""When calls are looked at once more in new processes, and what they are charged then."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.timing.clocks import Clocks  # noqa: E402
from kernwright.evaluation.timing.race import Race  # noqa: E402
from kernwright.evaluation.timing.unchecked import FEWEST, MOST, charge_unchecked, suspects  # noqa: E402

SOURCE = one_line("x", "torch.randn(4, 8)", "x * 2")


@pytest.fixture
def race(prepared: Callable[..., Setting]) -> Callable[..., Race]:
    def make(candidate_ns: float, eager_ns: float = 4e6, *early_ns: float) -> Race:
        setting = prepared(SOURCE)
        setting.early_ns[:] = early_ns
        clocks = {
            name: [Clocks(taken, None, taken + 50e3, None)] * 8
            for name, taken in (("candidate", candidate_ns), ("eager", eager_ns))
        }
        return Race(setting, frozenset({"eager"}), clocks)

    return make


def test_who_took_longer_while_it_was_checked_is_suspect(race: Callable[..., Race]) -> None:
    slow, fast = race(1e6, 4e6, *[3e6] * FEWEST), race(1e6, 4e6, *[1.1e6] * FEWEST)
    once, few = race(1e6, 4e6, *[1.1e6] * FEWEST, 9e6), race(1e6, 4e6, *[3e6] * (FEWEST - 1))
    assert suspects([slow, fast, once, few], "candidate", "eager") == [slow]


def test_who_gains_nothing_has_nothing_to_hide(race: Callable[..., Race]) -> None:
    assert suspects([race(4e6, 4e6, *[9e6] * FEWEST)], "candidate", "eager") == []


def charges(shown: Race, *fresh: Race) -> list[tuple[Race, float, str]]:
    """Where new processes, one after the other, show what these do; who asks for more fails."""
    following = iter(fresh)
    found = charge_unchecked([shown], lambda races: [next(following) for _ in races], "candidate", "eager")
    assert not list(following)
    return found


def test_what_all_new_processes_take_longer_counts(race: Callable[..., Race]) -> None:
    shown = race(1e6)
    ((of, longer, why),) = charges(shown, race(3e6), race(2e6))
    assert of is shown
    assert longer == pytest.approx(1e6)
    assert "2.00 times" in why
    assert shown.times_ns("candidate") == pytest.approx([2e6] * 8)
    assert shown.times_ns("eager") == pytest.approx([4e6] * 8)


@pytest.mark.parametrize("last", [1.02e6, 0.5e6])
def test_one_that_takes_no_longer_there_is_left_alone(race: Callable[..., Race], last: float) -> None:
    for before in ([], [race(3e6)], [race(1.2e6)] * 5):
        shown = race(1e6)
        assert charges(shown, *before, race(last)) == []
        assert shown.times_ns("candidate") == pytest.approx([1e6] * 8)


def test_what_is_little_has_to_be_shown_by_more_of_them(race: Callable[..., Race]) -> None:
    ((_, longer, _),) = charges(race(1e6), *[race(1.3e6)] * (MOST - 1), race(1.2e6))
    assert longer == pytest.approx(0.2e6)


def test_a_machine_that_became_slower_for_all_charges_nobody(race: Callable[..., Race]) -> None:
    assert charges(race(1e6), race(3e6, 12e6)) == []


def test_each_workload_is_asked_as_long_as_it_has_to_be(race: Callable[..., Race]) -> None:
    liar, honest, asked = race(1e6), race(1e6), []

    def timed_anew(races: Sequence[Race]) -> list[Race]:
        asked.append(list(races))
        return [race(3e6) if each is liar else race(1e6) for each in races]

    assert [of for of, _, _ in charge_unchecked([honest, liar], timed_anew, "candidate", "eager")] == [liar]
    assert asked == [[honest, liar], [liar]]


def test_only_calls_before_the_timing_that_have_the_generators_values_are_counted(race: Callable[..., Race]) -> None:
    from random import Random

    from kernwright.core.problem import Rules
    from kernwright.evaluation.trial import Guise, Trial

    class Participant:
        fill = unchanged = lambda self, *_: torch.ones(1, dtype=torch.bool)

        def call(self, *_: Any, **more: Any) -> tuple[Clocks, list[Any]]:
            return Clocks(1.0, None, 7.0, None), []

    setting: Any = race(1e6).setting
    trial = Trial(setting, Participant(), Rules(), Random(1))  # type: ignore[arg-type]
    trial.run(setting.bases[0].values)
    trial.run([value.clone() for value in setting.bases[0].values])
    assert setting.early_ns == [7.0]
    trial.guise = Guise(lambda: None, lambda: None)
    trial.run(setting.bases[0].values)
    assert setting.early_ns == [7.0]
