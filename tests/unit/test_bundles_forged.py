"""Bundles whose forger has computed all again that follows from what was forged, and that contradict themselves."""

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from bundle_edits import accepted, refused, resummarised

pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.outcome import Samples
from kernwright.core.plan import QUICK
from kernwright.core.problem import Problem, Rules, Tolerance, Workload
from kernwright.engine.bundles import promises
from kernwright.engine.bundles.facts import Bundle
from kernwright.evaluation.checks.own_kernels import LARGEST_VENDOR_SHARE
from kernwright.testing.bundles import PLAN, made_bundle

MADE = made_bundle(random.Random(7), workloads=2, eager_ns=4e6)


def sampled(change: Callable[[Samples], Samples | None], *, first: bool = True) -> Bundle:
    """With every list of times changed, or left out."""

    def changed(samples: Iterable[Samples]) -> tuple[Samples, ...]:
        return tuple(found for found in map(change, samples) if found is not None)

    outcome = MADE.verified
    kept = changed(outcome.first_samples) if first else outcome.first_samples
    timings = replace(outcome.timings, samples=changed(outcome.timings.samples))
    return replace(
        MADE, evaluation=replace(MADE.evaluation, outcome=replace(outcome, timings=timings, first_samples=kept))
    )


def times(factor: float, *participants: str) -> Callable[[Samples], Samples]:
    def change(sample: Samples) -> Samples:
        if sample.participant not in participants:
            return sample
        device, call = ([factor * t for t in each] for each in (sample.device_ns, sample.call_ns))
        return replace(sample, device_ns=tuple(device), call_ns=tuple(call))

    return change


def with_check(name: str, bundle: Bundle = MADE, **edits: Any) -> Bundle:
    checks = tuple(replace(c, **edits) if c.name == name else c for c in bundle.evaluation.checks)
    return replace(bundle, evaluation=replace(bundle.evaluation, checks=checks))


def with_rules(**rules: Any) -> Bundle:
    return replace(MADE, problem=replace(MADE.problem, rules=replace(MADE.problem.rules, **rules)))


def with_evaluation(**edits: Any) -> Bundle:
    return replace(MADE, evaluation=replace(MADE.evaluation, **edits))


def with_floors(share: float) -> Bundle:
    """Each floor is this share of the candidate's time."""
    outcome = MADE.verified
    each = tuple(replace(w, floor_ns=share * w.time_ns["candidate"]) for w in outcome.timings.workloads)
    return with_evaluation(outcome=replace(outcome, timings=replace(outcome.timings, workloads=each)))


def test_what_is_computed_anew_without_an_edit_is_accepted() -> None:
    accepted(MADE)


@pytest.mark.parametrize("first", [True, False])
def test_a_candidate_that_the_judges_clock_contradicts(first: bool) -> None:
    accepted(sampled(times(0.25, "candidate"), first=first))
    reason = refused(resummarised(sampled(times(0.15, "candidate"), first=first)))
    assert "the runner's clock shows" in reason
    assert reason.startswith("first_samples: " if first else "samples: ")


@pytest.mark.parametrize("participant", ["eager", "compile"])
def test_a_baseline_that_takes_longer_than_its_messages(participant: str) -> None:
    assert {s.participant for s in MADE.verified.timings.samples} == {"candidate", "eager", "compile"}
    reason = refused(resummarised(sampled(times(1.1, participant))))
    assert "longer than the judge saw its message" in reason


def test_a_charged_candidate_may_take_longer_than_its_messages() -> None:
    accepted(sampled(times(1.1, "candidate")))


def test_a_baseline_that_is_missing_has_failed() -> None:
    without = sampled(lambda sample: None if sample.participant == "compile" else sample)
    assert "'compile' of the plan has no times, and nothing says that it failed" in refused(resummarised(without))
    accepted(replace(without, evaluation=replace(without.evaluation, failed_baselines={"compile": "no compiler"})))


def test_a_slow_baseline_is_in_the_first_measurement_alone() -> None:
    slow = made_bundle(random.Random(7), compiled=0.5)
    assert {s.participant for s in slow.verified.timings.samples} == {"candidate", "eager"}
    accepted(slow)


def test_quick_verifies_nothing() -> None:
    plan = replace(PLAN, name=QUICK.name)
    assert "confirms nothing" in refused(resummarised(replace(MADE, plan=plan)))


def test_a_weaker_plan_has_another_name() -> None:
    weak = replace(PLAN, name="half compared", compare="half", sanitize=False, half_width=5.0)
    accepted(replace(MADE, plan=weak))
    assert "give a plan of your own a name of its own" in refused(
        resummarised(replace(MADE, plan=replace(weak, name="full")))
    )


@pytest.mark.parametrize("ratio", [1.0000001, 1000.0, -0.5])
def test_a_check_that_passed_with_too_large_an_error(ratio: float) -> None:
    accepted(with_check("outputs", evidence={"error_ratio": 1.0}))
    assert "'distributions' passed, and its largest error" in refused(
        resummarised(with_check("distributions", evidence={"error_ratio": ratio}))
    )


def test_outputs_that_were_compared_nowhere() -> None:
    assert "compared none" in refused(resummarised(with_check("outputs", evidence={"cases": 0.0})))


@pytest.mark.parametrize(("bitwise", "fits"), [(1.0, True), (0.0, False), (None, False)])
def test_a_rule_for_the_same_bits(bitwise: float | None, fits: bool) -> None:
    evidence = {} if bitwise is None else {"bitwise": bitwise}
    accepted(with_check("repeatable", evidence=evidence))
    bound = with_check("repeatable", with_rules(deterministic=True), evidence=evidence)
    if fits:
        accepted(bound)
    else:
        assert "the same bits" in refused(resummarised(bound))


@pytest.mark.parametrize(("share", "fits"), [(0.0, True), (0.1, True), (0.2, False), (None, False)])
def test_a_rule_against_vendors_libraries(share: float | None, fits: bool) -> None:
    evidence = {} if share is None else {"vendor_share": share}
    bound = with_check("own_kernels", with_rules(vendor_libraries="forbidden"), evidence=evidence)
    if fits:
        accepted(bound)
    else:
        assert "forbid vendors' libraries" in refused(resummarised(bound))
    assert promises.MOST_VENDOR_SHARE == LARGEST_VENDOR_SHARE


def test_process_sets_that_are_copies() -> None:
    lists = {(s.participant, s.workload): s for s in MADE.verified.timings.samples if s.process_set == 0}
    copied = sampled(lambda s: replace(lists[s.participant, s.workload], process_set=s.process_set), first=False)
    assert "the very times of another list" in refused(resummarised(copied))


def test_a_time_far_below_the_floor() -> None:
    accepted(with_floors(1.9))
    assert "states that no kernel takes less than" in refused(resummarised(with_floors(2.1)))


def test_an_old_judge_had_checks_too() -> None:
    def kept(version: str, names: Iterable[str]) -> Bundle:
        checks = tuple(c for c in MADE.evaluation.checks if c.name in names)
        return with_evaluation(judge_version=version, checks=checks)

    first = promises.CHECKS_SINCE[3]
    accepted(kept("3", first))
    accepted(kept("4", first))
    assert "'distributions' is missing" in refused(resummarised(kept("5", first)))
    accepted(kept("5", first | promises.CHECKS_SINCE[5]))
    assert "'integers' is missing" in refused(resummarised(kept("6", first | promises.CHECKS_SINCE[5])))
    assert "is missing" in refused(resummarised(kept("4", {"entry", "outputs"})))
    assert "which left no bundles" in refused(resummarised(kept("1", promises.CHECKS)))


NO_PYTHON = ["not python at all", "def kernel(x:\n", "x = 1\x00\n", "(" * 5000, "-" * 200_000 + "1"]


@pytest.mark.parametrize("text", NO_PYTHON, ids=range(len(NO_PYTHON)))
def test_sources_are_python(text: str) -> None:
    candidate = Candidate(language="torch", files=(SourceFile(name="main.py", text=text),))
    reason = refused(resummarised(replace(MADE, candidate=candidate)))
    assert reason.startswith("candidate: its source")
    problem: Problem = replace(MADE.problem, source=text)
    assert refused(resummarised(replace(MADE, problem=problem))).startswith("problem: its source")


def test_a_candidate_has_an_entry_and_its_other_files_any_language() -> None:
    main, native = SourceFile(name="main.py", text="def kernel(x):\n    return '\\d'\n"), 'extern "C" void f() {}\n'
    files = (main, SourceFile(name="main.cu", text=native))
    accepted(replace(MADE, candidate=Candidate(language="torch", files=files)))
    nothing = Candidate(language="torch", files=(replace(main, text="x = 1\n"), *files[1:]))
    assert "neither ModelNew nor kernel" in refused(resummarised(replace(MADE, candidate=nothing)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"workloads": (Workload(name="w0", params={"n": 64}),)}, "another workloads"),
        ({"workloads": (Workload(name="w0", params={"n": 0}, weight=1e6),)}, "another workloads"),
        ({"tolerance": Tolerance(rms_ratio=1e300, max_ratio=1e300)}, "another tolerance"),
        ({"backward": True}, "another backward"),
        ({"entry": "NoSuchClass"}, "another entry"),
        ({"rules": Rules(precision="int1")}, "precision 'int1'"),
        ({"source": "class Model: ...\n"}, "states none"),
    ],
)
def test_a_problem_that_its_source_does_not_state(change: dict[str, Any], said: str) -> None:
    bundle = made_bundle(random.Random(1))
    assert said in refused(resummarised(replace(bundle, problem=replace(bundle.problem, **change))))


def test_names_of_no_language_and_no_target() -> None:
    bundle = made_bundle(random.Random(1))
    for change in (
        {"candidate": replace(bundle.candidate, language="cobol[/x]\x1b[31m")},
        {"evaluation": replace(bundle.evaluation, target="tpu[/x]:v9")},
    ):
        assert "names no language or target" in refused(resummarised(replace(bundle, **change)))
