"""Bundles that are of two machines, or of one whose clocks are not those of its kind."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from bundle_edits import accepted, refused, resummarised, with_evaluation

pytest.importorskip("torch")

from kernwright.core.outcome import Samples
from kernwright.engine.bundles import machines
from kernwright.engine.bundles.checking import require_consistent
from kernwright.engine.bundles.document import read
from kernwright.engine.bundles.facts import Bundle
from kernwright.evaluation.timing.clocks import Clocks
from kernwright.evaluation.timing.race import Race
from kernwright.evaluation.timing.witness import settle_clocks
from kernwright.testing.bundles import made_bundle

ON_DEVICE = made_bundle(random.Random(7), workloads=2)
ON_PROCESSOR = made_bundle(random.Random(7), workloads=2, target="cpu:made")


def timed(participant: str, change: Callable[[Samples], Sequence[float]]) -> Bundle:
    """With other times from idle to complete in the first of a participant's lists."""
    outcome = ON_PROCESSOR.verified
    samples = list(outcome.timings.samples)
    place = next(i for i, sample in enumerate(samples) if sample.participant == participant)
    samples[place] = replace(samples[place], call_ns=tuple(change(samples[place])))
    timings = replace(outcome.timings, samples=tuple(samples))
    return with_evaluation(ON_PROCESSOR, outcome=replace(outcome, timings=timings))


def added(more: Sequence[float]) -> Callable[[Samples], list[float]]:
    return lambda sample: [time + by for time, by in zip(sample.call_ns, more, strict=True)]


def first_longer(by: float) -> Callable[[Samples], list[float]]:
    return added([by] + [0.0] * 15)


@pytest.mark.parametrize("participant", ["candidate", "eager", "compile"])
def test_a_processor_has_one_clock(participant: str) -> None:
    accepted(ON_PROCESSOR)
    reason = refused(resummarised(timed(participant, first_longer(1.0))))
    assert "on a processor the two are one" in reason
    assert reason.startswith(f"samples: {participant!r} on 'w0' in process set 0")


def test_on_a_processor_every_call_has_both_times() -> None:
    outcome = ON_PROCESSOR.verified
    few = tuple(replace(sample, call_ns=sample.call_ns[:8]) for sample in outcome.timings.samples)
    bundle = with_evaluation(ON_PROCESSOR, outcome=replace(outcome, timings=replace(outcome.timings, samples=few)))
    assert "has 8 times from idle to complete, and 16 were expected" in refused(resummarised(bundle))


def test_baselines_are_charged_nothing_on_a_processor() -> None:
    def all_longer(sample: Samples) -> list[float]:
        return [time + 5e3 for time in sample.call_ns]

    accepted(timed("candidate", all_longer))
    assert "the two are one" in refused(resummarised(timed("eager", all_longer)))


def test_a_charge_is_alike_in_all_samples_on_the_same_kind_of_values() -> None:
    def of_blocks(*longer: float) -> Callable[[Samples], list[float]]:
        return lambda sample: [t + longer[i // 2 % len(longer)] for i, t in enumerate(sample.call_ns)]

    accepted(timed("candidate", of_blocks(5e3, 6e3)))
    assert "the two are one" in refused(resummarised(timed("candidate", of_blocks(5e3, 6e3, 7e3))))


def test_what_a_judge_charges_is_accepted() -> None:
    """Messages that are seldom short and sometimes long: then it adds a little to one clock alone."""
    rng, longer = random.Random(3), 0

    def clocks(ns: float) -> list[Clocks]:
        found = []
        for _ in range(16):
            shown, late = ns * rng.uniform(0.9, 1.1), rng.choice((1e4, 6e4, 6e4, 6e4, 6e4, 3e5 if ns < 2e6 else 6e4))
            found.append(Clocks(shown, shown, shown + late, shown + late))
        return found

    for _ in range(50):
        race = Race(Any, frozenset({"eager"}), {"candidate": clocks(1e6), "eager": clocks(2e6)})  # type: ignore[arg-type]
        settle_clocks(race, "eager", "candidate")
        device, call = ([getattr(c, name) for c in race.clocks["candidate"]] for name in ("device_ns", "call_ns"))
        longer += device != call
        assert [c.call_ns for c in race.clocks["eager"]] == [c.device_ns for c in race.clocks["eager"]]
        more = [max(0.0, b - a) for a, b in zip(device, call, strict=True)]
        charged = resummarised(timed("candidate", added(more)))
        require_consistent(read(charged).bundle)
    assert longer > 10


def test_a_processor_has_no_floor() -> None:
    outcome = ON_PROCESSOR.verified
    stated = tuple(replace(each, floor_ns=5.0) for each in outcome.timings.workloads)
    bundle = with_evaluation(ON_PROCESSOR, outcome=replace(outcome, timings=replace(outcome.timings, workloads=stated)))
    assert "a floor of 5.0 ns on 'w0', and none was expected" in refused(resummarised(bundle))


PROCESSOR = {"isa": "x86-64-v4", "cpu": "Model 7", "cores": "8"}
GPU = {"gpu": "NVIDIA H200"}
ON_MODEL_7, ON_H200 = "Model 7/8 cores/32 MiB", "NVIDIA H200/580.1/torch 2.11.0"


@pytest.mark.parametrize(
    ("target", "machine", "environment", "said"),
    [
        ("cpu:x86-64-v4", ON_MODEL_7, PROCESSOR, ""),
        ("cpu:arm64", "cpu/8 cores/32 MiB", {**PROCESSOR, "isa": "arm64", "cpu": ""}, ""),
        ("cpu:x86-64-v4", "anything", {}, ""),
        ("cuda:sm_90a", ON_H200, GPU, ""),
        ("another:one", ON_MODEL_7, {**PROCESSOR, **GPU}, ""),
        ("cuda:sm_90a", ON_H200, PROCESSOR, "its 'isa' is 'x86-64-v4', and one of the target 'cuda:sm_90a' was"),
        ("cuda:sm_90a", ON_MODEL_7, GPU, "its 'gpu' is 'NVIDIA H200', and one of the machine 'Model 7/8 cores"),
        ("cpu:x86-64-v4", ON_MODEL_7, GPU, "its 'gpu' is 'NVIDIA H200', and none was expected on the target"),
        ("cpu:x86-64-v3", ON_MODEL_7, PROCESSOR, "one of the target 'cpu:x86-64-v3' was expected"),
        ("cpu:x86-64-v4", "Model 8/8 cores/32 MiB", PROCESSOR, "its 'cpu' is 'Model 7', and one of the machine"),
        ("cpu:x86-64-v4", "Model 7/9 cores/32 MiB", PROCESSOR, "its 'cores' are '8', and those of the machine"),
    ],
)
def test_target_machine_and_environment_are_of_one(
    target: str, machine: str, environment: dict[str, str], said: str
) -> None:
    made = ON_PROCESSOR if machines.is_processor(target) else ON_DEVICE
    bundle = with_evaluation(made, target=target, machine=machine, environment=environment)
    if said:
        reason = refused(resummarised(bundle))
        assert reason.startswith("environment: ")
        assert said in reason
    else:
        accepted(bundle)


@pytest.mark.parametrize("level", ["landlock", "rlimits"])
def test_a_weaker_isolation_has_its_reason(level: str) -> None:
    weaker = with_evaluation(ON_DEVICE, isolation=level)
    assert "environment: the isolation was" in refused(resummarised(weaker))
    accepted(with_evaluation(weaker, environment={"isolation_missing": "namespaces: not permitted"}))
