"""Rules read figures: what they find, in which order, what they rule out; expectations and what became of them."""

from dataclasses import replace
from typing import get_args

import pytest

from kernwright.core.brief import Pick, Proposed
from kernwright.core.counters import COUNTERS, named, shown
from kernwright.core.diagnosis import Bottleneck
from kernwright.core.expectation import LONGEST, Expectation, Sight, expectation_of, seen_of
from kernwright.core.node import Node
from kernwright.core.outcome import BuildFailed, Evaluation, Measured, Outcome, Wrong
from kernwright.core.profile import KernelProfile, Profile, changes, joined
from kernwright.search import diagnosis
from kernwright.search.diagnosis import Rule, diagnose, figures_of, ledger, opinion, tallied
from kernwright.testing.null import null_timings

FOUND, EXCLUDED = diagnosis.rules()
MEMORY_BOUND = {
    "dram_busy": 0.86,
    "l2_busy": 0.41,
    "core_busy": 0.2,
    "dram_bytes": 3e6,
    "least_bytes": 1e6,
    "occupancy": 0.3,
    "occupancy_limit": 0.5,
    "spill_bytes": 0.0,
    "local_accesses": 0.0,
    "launches": 1.0,
}


def evaluated(outcome: Outcome, **changes: object) -> Evaluation:
    plain = Evaluation(
        candidate="c",
        problem="p",
        plan="quick",
        target="cpu:null",
        machine="null",
        judge_version="0",
        outcome=outcome,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def measured(speedup: float) -> Evaluation:
    return evaluated(Measured(timings=null_timings(speedup), reason=""))


def meeting(rule: Rule) -> dict[str, float]:
    """Figures under which a rule speaks."""
    figures = dict.fromkeys(diagnosis._NAMES.findall(rule.says), 1.0)
    for name, how, limit in rule.when:
        low, high = figures.get(f"{name} low", -1e30), figures.get(f"{name} high", 1e30)
        low, high = (limit, high) if ">" in how else (low, limit)
        figures |= {f"{name} low": low, f"{name} high": high}
        step = 0.001
        figures[name] = (
            low + step if low > -1e30 and high == 1e30 else high - step if low == -1e30 else (low + high) / 2
        )
        figures[name] = limit if "=" in how and low == high else figures[name]
    return {name: value for name, value in figures.items() if " " not in name}


@pytest.mark.parametrize("rule", [*FOUND, *EXCLUDED], ids=lambda rule: f"{rule.bottleneck} {rule.when[0][0]}")
def test_every_rule_speaks_under_its_conditions_and_is_silent_without_its_figures(rule: Rule) -> None:
    figures = meeting(rule)
    assert rule.holds(figures)
    sentence = rule.sentence(figures)
    assert "{" not in sentence
    assert rule.source
    for name in figures:
        assert not rule.holds({other: value for other, value in figures.items() if other != name})


def test_every_class_that_figures_can_show_has_a_rule() -> None:
    by_failure = {"numerics", "build-error"}
    assert {rule.bottleneck for rule in FOUND} == set(get_args(Bottleneck)) - by_failure


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"class": "gremlins"}, "no class of bottlenecks"),
        ({"when": ["dram_busy is high"]}, "no condition"),
        ({"when": ["dram_bizzy > 0"]}, "no figure"),
        ({"says": "{nothing}"}, "no figure"),
        ({"strength": "dram_bizzy"}, "no figure"),
    ],
)
def test_a_rule_that_could_never_speak_is_refused(entry: dict[str, object], said: str) -> None:
    plain = {"class": "dram", "when": ["dram_busy > 0"], "says": "{dram_busy}", "source": "here"}
    assert diagnosis._rule(plain).bottleneck == "dram"
    with pytest.raises(ValueError, match=said):
        diagnosis._rule({**plain, **entry})


def test_the_dominant_bottleneck_comes_first_with_its_evidence() -> None:
    found = diagnose(Profile(counters=MEMORY_BOUND | {"stall_sync": 0.3}))
    assert found is not None
    assert found.bottlenecks == ("dram", "sync")
    assert found.evidence[0] == "DRAM runs at 86.0% of its peak"
    assert len(found.evidence) == len(found.bottlenecks)
    assert {line.partition(":")[0] for line in found.ruled_out} >= {"compute", "spills", "launch-overhead"}
    assert not {line.partition(":")[0] for line in found.ruled_out} & set(found.bottlenecks)
    assert found.text.splitlines()[0] == "dram: DRAM runs at 86.0% of its peak"


def test_a_hint_from_the_code_yields_to_a_figure_of_a_run() -> None:
    narrow = {"occupancy_limit": 0.25, "registers": 255.0, "shared_bytes": 0.0}
    hinted = diagnose(Profile(counters=narrow))
    assert hinted is not None
    assert hinted.bottlenecks == ("occupancy",)
    seen = diagnose(Profile(counters=narrow | {"dram_busy": 0.9}))
    assert seen is not None
    assert seen.bottlenecks == ("dram",)
    assert any(line.startswith("occupancy") for line in seen.ruled_out)


def test_code_with_vectors_is_not_said_to_have_none() -> None:
    scalar = Profile(counters={"loops_missed": 2.0, "loops_vectorised": 0.0})
    said = diagnose(scalar)
    assert said is not None
    assert said.bottlenecks == ("vectorisation",)
    for vectors in ({"vector_share": 0.7, "vector_bits": 256.0}, {"loops_by_hand": 1.0}):
        written = diagnose(replace(scalar, counters=scalar.counters | vectors))
        assert written is None or "vectorisation" not in written.bottlenecks


def test_nothing_is_made_of_nothing() -> None:
    assert diagnose(None) is None
    assert diagnose(Profile()) is None
    assert diagnose(Profile(counters={"dram_busy": float("nan")})) is None


def test_failures_are_diagnosed_by_what_they_are() -> None:
    wrong = diagnose(None, evaluated(Wrong(reason="outputs: element 3")))
    assert wrong is not None
    assert wrong.bottlenecks == ("numerics",)
    broken = diagnose(Profile(counters=MEMORY_BOUND), evaluated(BuildFailed(log="", reason="line 3")))
    assert broken is not None
    assert broken.bottlenecks == ("build-error",)


def test_figures_join_the_build_the_profile_and_the_judges_time() -> None:
    evaluation = replace(measured(2.0), resources={"registers": 40.0, "spill_bytes": 8.0, "library_bytes": 9.0})
    profile = Profile(counters={"registers": 48.0, "time_ns": 1.0, "gap_ns": 1e5, "waves": 2.25, "page_faults": 10.0})
    figures = figures_of(profile, evaluation)
    assert figures["registers"] == 48  # of the profile
    assert figures["spill_bytes"] == 8
    assert "library_bytes" not in figures
    assert figures["time_ns"] == 5e5  # the judge's
    assert figures["gap_share"] == 0.2
    assert figures["tail_share"] == 0.25
    assert "fresh_share" not in figures  # of bytes that nobody told


@pytest.mark.parametrize(
    ("text", "counter", "change"),
    [
        ("DRAM bytes -30 %", "dram_bytes", -0.3),
        ("dram bytes: \u221230%", "dram_bytes", -0.3),
        ("registers 168 -> 96", "registers", 96 / 168 - 1),
        ("spills 24 to 0", "spill_bytes", -1.0),
        ("occupancy x2", "occupancy", 1.0),
        ("wide loads +150 %.", "wide_share", 1.5),
        ("`time` -12.5 %", "time_ns", -0.125),
    ],
)
def test_what_is_expected_is_read(text: str, counter: str, change: float) -> None:
    expected = expectation_of(text)
    assert expected.counter == counter
    assert expected.change == pytest.approx(change)


@pytest.mark.parametrize(
    "text", ["it gets faster", "DRAM bytes -300 %", "speed +10 %", "", "registers 0 -> 4", "x" * 999]
)
def test_what_cannot_be_checked_stays_a_sentence(text: str) -> None:
    expected = expectation_of(text)
    assert expected.counter == ""
    assert len(expected.text) <= LONGEST


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (100.0, 70.0, "came"),
        (100.0, 84.0, "came"),
        (100.0, 90.0, "partly"),
        (100.0, 99.0, "not"),
        (100.0, 120.0, "opposite"),
        (None, 70.0, "unseen"),
        (0.0, 0.0, "unseen"),
    ],
)
def test_whether_it_came(before: float | None, after: float, verdict: str) -> None:
    expected = Expectation(text="DRAM bytes -30 %", counter="dram_bytes", change=-0.3)
    old = {} if before is None else {"dram_bytes": before}
    assert seen_of(expected, Sight(figures=old), Sight(figures={"dram_bytes": after})).verdict == verdict


def test_something_that_came_from_nothing() -> None:
    more = Expectation(text="tensor pipe +50 %", counter="tensor_busy", change=0.5)
    nothing, some = Sight(figures={"tensor_busy": 0.0}), Sight(figures={"tensor_busy": 0.3})
    assert seen_of(more, nothing, some).verdict == "came"
    assert seen_of(replace(more, change=-0.5), nothing, some).verdict == "opposite"


def grown(number: int, parents: tuple[int, ...], speedup: float, bytes_: float | None, *expects: str) -> Node:
    draft = Proposed(candidate=f"c{number}", operator="llm", summary=f"idea {number}", expects=expects)
    profile = Profile(counters={"dram_bytes": bytes_}) if bytes_ is not None else None
    pick = Pick(parents=parents, intent="improve" if parents else "start")
    return Node(id=number, pick=pick, draft=draft, evaluation=measured(speedup), profile=profile)


def test_the_ledger_holds_a_line_for_each_idea() -> None:
    nodes = [
        grown(0, (), 1.0, 1e6),
        grown(1, (0,), 2.0, 5e5, "DRAM bytes -50 %", "time -50 %", "it is nicer"),
        grown(2, (0,), 1.0, 2e6, "DRAM bytes -50 %"),
        grown(3, (2,), 1.0, None, "DRAM bytes -50 %"),
    ]
    rows = ledger(nodes)
    assert [(row.node, row.idea, row.seen.verdict) for row in rows] == [
        (1, "idea 1", "came"),
        (1, "idea 1", "came"),
        (1, "idea 1", "unseen"),
        (2, "idea 2", "opposite"),
        (3, "idea 3", "unseen"),
    ]
    assert tallied(rows) == {"came": 2, "partly": 0, "not": 0, "opposite": 1, "unseen": 2}


def test_a_diagnosis_tells_what_became_of_what_was_expected() -> None:
    nodes = [grown(0, (), 1.0, 1e6), grown(1, (0,), 2.0, 9.9e5, "DRAM bytes -30 %")]
    found = diagnose(nodes[1].profile, nodes[1].evaluation, diagnosis.expected_of(nodes[1], nodes))
    assert found is not None
    assert "expected was 'DRAM bytes -30 %'; it did not come: 1 MB before, 990 kB after" in found.text
    assert found.expected[0].verdict == "not"


def test_a_model_adds_classes_and_takes_none_away() -> None:
    found = diagnose(Profile(counters=MEMORY_BOUND))
    assert found is not None
    text = (
        "It reads the input twice.\nBOTTLENECK: l2 - the second pass hits L2\n**BOTTLENECK:** gremlins - they hide\n"
        "BOTTLENECK: compute - it does not look so\nBOTTLENECK: dram\nBOTTLENECK: host\n"
    )
    both = opinion.joined(found, text, "some:model")
    assert both.bottlenecks == ("dram", "l2", "host")
    assert both.evidence[1] == "some:model says: the second pass hits L2"
    assert both.ruled_out == found.ruled_out
    assert both.model == "some:model"
    assert both.text.startswith(found.text)
    assert len(opinion.joined(found, "x" * 10**6, "m").text) < 4000


def test_counters_have_one_name_whatever_they_are_called() -> None:
    said: dict[str, str] = {}
    for name, counter in COUNTERS.items():
        for text in (name, counter.label, *counter.also):
            assert said.setdefault(text.lower(), name) == name, f"{text!r} is {said[text.lower()]} and {name}"
            assert named(text) == name
    assert named("warp factor") is None


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("dram_busy", 0.714, "71.4%"),
        ("time_ns", 12_345.0, "12.3 us"),
        ("dram_bytes", 0.0, "0 B"),
        ("dram_bytes", 1.5e9, "1.5 GB"),
        ("registers", 168.0, "168"),
        ("instructions", 1.234e9, "1.23e+09"),
        ("ipc", 2.5, "2.50"),
        ("miss_bytes_per_s", 0.0, "0 B/s"),
    ],
)
def test_figures_are_shown_with_their_units(name: str, value: float, text: str) -> None:
    assert shown(name, value) == text


def test_changes_name_what_differs_the_largest_first() -> None:
    found = changes({"a": 100.0, "b": 10.0, "c": 1.0, "d": 0.0}, {"a": 99.0, "b": 5.0, "c": 4.0, "d": 3.0, "e": 1.0})
    assert [(change.name, change.relative) for change in found] == [("d", None), ("c", 3.0), ("b", -0.5)]


def test_what_several_tools_saw_is_one_profile() -> None:
    first = Profile(
        tools=("one",), counters={"registers": 8.0}, kernels=(KernelProfile(name="k", counters={"registers": 8.0}),)
    )
    second = Profile(
        tools=("two",), counters={"registers": 9.0}, kernels=(KernelProfile(name="k", opcodes={"x": 1.0}),), seconds=2.0
    )
    both = joined((first, second, Profile(missing=("three: not there",)), Profile(missing=("three: not there",))))
    assert both.tools == ("one", "two")
    assert both.missing == ("three: not there",)
    assert both.counters == {"registers": 9.0}
    assert both.kernels == (KernelProfile(name="k", counters={"registers": 8.0}, opcodes={"x": 1.0}),)
    assert both.seconds == 2.0
