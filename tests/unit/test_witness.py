"""The judge's clock bounds the runners'."""

from typing import Any, cast

import pytest

pytest.importorskip("torch")

from kernwright.evaluation.timing.clocks import Clocks
from kernwright.evaluation.timing.race import Race
from kernwright.evaluation.timing.witness import settle_clocks

GAP = 100_000.0
TRUE = 5_000_000.0


def _clocks(shown: float, call: float, seen: float) -> Clocks:
    return Clocks(shown, call, seen, seen)


def _race(candidate: list[Clocks]) -> Race:
    honest = [_clocks(TRUE, TRUE, TRUE + GAP)] * len(candidate)
    return Race(cast(Any, None), frozenset({"eager"}), {"candidate": candidate, "eager": honest})


def test_honest_clocks_are_left_alone() -> None:
    race = _race([_clocks(TRUE, TRUE, TRUE + GAP)] * 16)
    assert settle_clocks(race, "eager", "candidate") is None
    assert race.times_ns("candidate") == [TRUE] * 16
    assert race.times_ns("eager") == [TRUE] * 16


@pytest.mark.parametrize("hidden", [10_000.0, 20_000.0, 200_000.0, 1_000_000.0])
def test_hidden_time_counts_as_the_candidates(hidden: float) -> None:
    shown = TRUE - hidden
    race = _race([_clocks(shown, shown, TRUE + GAP)] * 16)
    assert settle_clocks(race, "eager", "candidate") is None
    assert race.times_ns("candidate") == pytest.approx([TRUE] * 16)


def test_a_few_forged_samples_count_with_the_judges_clock() -> None:
    clocks = [_clocks(TRUE, TRUE, TRUE + GAP)] * 14 + [_clocks(1.0, 1.0, TRUE + GAP)] * 2
    race = _race(clocks)
    settle_clocks(race, "eager", "candidate")
    assert race.times_ns("candidate") == pytest.approx([TRUE] * 16)


def test_a_clock_that_shows_next_to_nothing_is_not_believed() -> None:
    doubt = settle_clocks(_race([_clocks(1.0, 1.0, TRUE + GAP)] * 16), "eager", "candidate")
    assert doubt is not None
    assert "5000.0 µs" in doubt


def test_a_slow_copy_of_the_results_is_charged_but_not_doubted() -> None:
    race = _race([_clocks(TRUE, TRUE, TRUE + GAP + 2_000_000)] * 16)
    assert settle_clocks(race, "eager", "candidate") is None
    assert race.times_ns("candidate") == pytest.approx([TRUE + 2_000_000] * 16)


def test_slow_wake_ups_that_the_trusted_side_has_too_are_nobodys_time() -> None:
    late = [_clocks(50_000.0, 50_000.0, 50_000.0 + GAP + (600_000 if i % 4 == 0 else 0)) for i in range(16)]
    race = Race(cast(Any, None), frozenset({"eager"}), {"candidate": list(late), "eager": list(late)})
    assert settle_clocks(race, "eager", "candidate") is None
    assert race.times_ns("candidate") == pytest.approx([50_000.0] * 16)


def test_one_slow_message_is_not_a_lie() -> None:
    clocks = [_clocks(50_000.0, 50_000.0, 50_000.0 + GAP + 600_000)] * 12 + [
        _clocks(50_000.0, 50_000.0, 50_000.0 + GAP)
    ] * 4
    honest = [_clocks(60_000.0, 60_000.0, 60_000.0 + GAP)] * 16
    race = Race(cast(Any, None), frozenset({"eager"}), {"candidate": clocks, "eager": honest})
    assert settle_clocks(race, "eager", "candidate") is None


def test_a_busy_machine_hides_nobodys_time() -> None:
    """Messages of the trusted side that others' work delayed make a mean that says little."""
    hidden = 1_000_000.0
    late = [_clocks(TRUE, TRUE, TRUE + GAP + (20_000_000 if i % 4 == 0 else 0)) for i in range(16)]
    hiding = [_clocks(TRUE - hidden, TRUE - hidden, TRUE + GAP)] * 16
    race = Race(cast(Any, None), frozenset({"eager"}), {"candidate": hiding, "eager": late})
    assert settle_clocks(race, "eager", "candidate") is None
    assert race.times_ns("candidate") == pytest.approx([TRUE] * 16)
