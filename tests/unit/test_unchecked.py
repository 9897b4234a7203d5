"""When calls are looked at once more in new processes, and what they are charged then."""

from collections.abc import Callable
from typing import Any

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.clocks import Clocks  # noqa: E402
from kernwright.evaluation.setting import Setting  # noqa: E402
from kernwright.evaluation.timing import Race  # noqa: E402
from kernwright.evaluation.unchecked import FEWEST, charge_unchecked, suspects  # noqa: E402

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


def test_what_all_new_processes_take_longer_counts(race: Callable[..., Race]) -> None:
    shown = race(1e6)
    charge = charge_unchecked(shown, [race(3e6), race(2e6)], "candidate", "eager")
    assert charge is not None
    assert charge[0] == pytest.approx(1e6)
    assert "2.00 times" in charge[1]
    assert shown.times_ns("candidate") == pytest.approx([2e6] * 8)
    assert shown.times_ns("eager") == pytest.approx([4e6] * 8)


@pytest.mark.parametrize("second", [1.02e6, 0.5e6])
def test_one_that_takes_no_longer_there_is_left_alone(race: Callable[..., Race], second: float) -> None:
    shown = race(1e6)
    assert charge_unchecked(shown, [race(3e6), race(second)], "candidate", "eager") is None
    assert shown.times_ns("candidate") == pytest.approx([1e6] * 8)


def test_a_machine_that_became_slower_for_all_charges_nobody(race: Callable[..., Race]) -> None:
    assert charge_unchecked(race(1e6), [race(3e6, 12e6), race(3e6, 12e6)], "candidate", "eager") is None


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
