"""Plans: how many process sets confirm, and that plans stored before a field existed keep their keys."""

from dataclasses import asdict, replace

import pytest

from kernwright.core.digest import digest
from kernwright.core.jobs import JUDGE_VERSION, evaluation_key
from kernwright.core.plan import FULL, QUICK, SHORT_NS


@pytest.mark.parametrize(("shortest_ns", "sets"), [(5e3, 9), (SHORT_NS - 1, 9), (SHORT_NS, 5), (1e6, 5)])
def test_short_calls_are_confirmed_by_more_sets(shortest_ns: float, sets: int) -> None:
    assert FULL.confirmations(shortest_ns) == sets


def test_a_plan_without_a_number_for_short_calls_treats_all_alike() -> None:
    assert replace(FULL, short_sets=0).confirmations(5e3) == 5
    assert QUICK.confirmations(5e3) == 0


def test_an_evaluation_under_a_plan_that_was_stored_before_is_found_again() -> None:
    old = asdict(QUICK)
    del old["short_sets"]
    assert evaluation_key("c", "p", QUICK) == digest(("c", "p", old, JUDGE_VERSION))
    assert evaluation_key("c", "p", FULL) != evaluation_key("c", "p", replace(FULL, short_sets=0))
