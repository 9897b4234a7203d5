"""What a writer expects is compared like with like: the same plan, the workload that is meant."""

from dataclasses import replace

import pytest

from kernwright.core.brief import Pick, Proposed
from kernwright.core.expectation import Sight, examples, expectation_of, seen_of
from kernwright.core.node import Node
from kernwright.core.outcome import Evaluation, Measured, Verified
from kernwright.core.profile import Profile
from kernwright.search.diagnosis import alike, expected_of, told
from kernwright.testing.null import null_timings

BEFORE = Sight(times_ns={"short": 100.0, "long": 1000.0}, weights={"short": 1.0, "long": 1.0}, plan="quick")
AFTER = replace(BEFORE, times_ns={"short": 200.0, "long": 250.0})


@pytest.mark.parametrize(
    ("text", "workload"),
    [
        ("time -20 %", ""),
        ("time on all -20 %", "all"),
        ("time on long -20 %", "long"),
        ("time of workload `long`: -20 %", "long"),
        ("runtime (long) x0.8", "long"),
        ("stalled on memory on long -20 %", "long"),
    ],
)
def test_a_workload_can_be_named(text: str, workload: str) -> None:
    expected = expectation_of(text)
    assert (expected.workload, expected.change) == (workload, pytest.approx(-0.2))


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("time on short -50 %", "opposite"),
        ("time on long -75 %", "came"),
        ("time -30 %", "came"),  # of both: 0.5 x 2 and 4 x faster
        ("time on all +30 %", "opposite"),
    ],
)
def test_a_time_is_of_the_workload_that_is_meant_or_of_all(text: str, verdict: str) -> None:
    assert seen_of(expectation_of(text), BEFORE, AFTER).verdict == verdict


def test_what_cannot_be_compared_says_why() -> None:
    other = seen_of(expectation_of("time -30 %"), replace(BEFORE, plan="full"), AFTER)
    assert (other.verdict, "plan 'full' before and under 'quick'" in other.why) == ("unseen", True)
    unknown = seen_of(expectation_of("time on lnog -30 %"), BEFORE, AFTER)
    assert (unknown.verdict, "short, long" in unknown.why) == ("unseen", True)
    watched = Sight(figures={"registers": 8.0}, workload="long")
    counted = seen_of(expectation_of("registers on short -30 %"), watched, watched)
    assert (counted.verdict, "'long' alone" in counted.why) == ("unseen", True)
    assert "'long' alone" in told(counted)


@pytest.mark.parametrize(("before", "after"), [(0.0, 0.0), (0.2, 0.4), (0.4, 0.1)])
def test_no_change_of_nothing_is_neither_what_was_expected_nor_its_opposite(before: float, after: float) -> None:
    for text in ("page faults -50 %", "page faults +50 %"):
        old, new = Sight(figures={"page_faults": before}), Sight(figures={"page_faults": after})
        seen = seen_of(expectation_of(text), old, new)
        assert (seen.verdict, seen.why) == ("unseen", "it was 0 before and after")


def test_what_reads_the_same_did_not_change() -> None:
    seen = seen_of(
        expectation_of("vectorisation -50 %"),
        Sight(figures={"vector_share": 0.0006}),
        Sight(figures={"vector_share": 0.0014}),
    )
    assert seen.verdict == "not"


def test_only_what_is_counted_is_offered() -> None:
    assert examples(()) == ("time on all -20 %",)
    assert examples(("registers", "dram_bytes"))[0] == "DRAM bytes -30 %"
    for text in examples(("dram_bytes", "registers")):
        assert expectation_of(text).counter


def node(number: int, quick: float, full: float | None, *expects: str) -> Node:
    """Timed at `quick` in the search; `full` is how much slower it is with a cold cache, where it was confirmed."""
    searched = evaluation(quick, "quick")
    confirmed = evaluation(full, "full") if full else None
    return Node(
        id=number,
        pick=Pick(parents=(0,) if number else (), intent="improve" if number else "start"),
        draft=Proposed(candidate=f"c{number}", operator="llm", expects=expects),
        evaluation=confirmed or searched,
        searched=searched,
        profile=Profile(),
    )


def evaluation(speedup: float, plan: str) -> Evaluation:
    timings = null_timings(speedup)
    outcome = Measured(timings=timings, reason="")
    return Evaluation(
        candidate="c",
        problem="p",
        plan=plan,
        target="cpu:null",
        machine="null",
        judge_version="0",
        outcome=outcome if plan == "quick" else Verified(timings=timings, reason="", confirmations=5),
    )


def test_times_of_a_quick_and_of_a_full_plan_are_never_set_against_each_other() -> None:
    nodes = [node(0, 1.0, 0.5), node(1, 1.25, None, "time -20 %")]
    [seen] = expected_of(nodes[1], nodes)
    assert seen.verdict == "came"
    assert seen.before is not None
    assert seen.after == pytest.approx(0.8 * seen.before)
    old, new = alike(*nodes)
    assert old is not None
    assert new is not None
    assert (old.plan, new.plan) == ("quick", "quick")
    old, new = alike(node(0, 1.0, 0.5), node(1, 1.0, 0.5))
    assert old is not None
    assert old.plan == "full"  # the better evidence, where both have it
