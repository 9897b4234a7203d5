"""Where a probe has several alternatives each of them has its turn, whatever chance says."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.arrangements import arrangement_ways  # noqa: E402
from kernwright.evaluation.probes.coincidences import coincidences  # noqa: E402
from kernwright.evaluation.probes.lines import line_ways  # noqa: E402
from kernwright.evaluation.probes.probe import Way  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.shortage import where_possible  # noqa: E402
from kernwright.evaluation.problem.turns import Turns  # noqa: E402

ONE, TWO, BLOCK = "torch.randn(24, 40)", "torch.randn(24, 40), torch.randn(24, 40)", "torch.randn(12, 12, 12)"
INTEGERS = "torch.randint(0, 2**40, (12, 16))"
SEEDS = range(12)
"""Seeds of evaluations, each of which looks at two workloads."""


def test_each_has_its_turn_from_a_random_one_on() -> None:
    first, turns = set(), Turns()
    for seed in SEEDS:
        rng = random.Random(seed)
        turns.begin_anew()
        found = [turns.next("axis", "abc", rng) for _ in range(6)]
        assert set(found[:3]) == set(found[3:]) == set("abc")
        first.add(found[0])
    assert first == set("abc")


def _seen(ways: list[Way], setting: Setting, change: str) -> set[str]:
    """What the cases are called, and along which axes lines are zero in them."""
    found = set()
    for way in ways:
        probe = where_possible(setting.reference, way)
        if probe is None or change not in probe.case.label:
            continue
        found.add(probe.case.label)
        for value in probe.case.values:
            axes = range(value.dim() - 1)
            found |= {f"axis {a}" for a in axes if (value == 0).movedim(a, 0).flatten(1).all(1).any()}
    return found


@pytest.mark.parametrize(
    ("names", "inputs", "change", "alternatives"),
    [
        ("x", ONE, "in order along", ["axis 0 of input 0", "axis 1 of input 0"]),
        ("x, y", TWO, "zeros in input", ["zeros in input 0", "zeros in input 1"]),
        ("x", BLOCK, "lines of zeros", ["axis 0", "axis 1"]),
    ],
)
def test_two_workloads_show_both_alternatives(
    prepared: Callable[[str], Setting], names: str, inputs: str, change: str, alternatives: list[str]
) -> None:
    setting = prepared(one_line(names, inputs, f"torch.exp({' + '.join(names.split(', '))}).cumsum(0)"))
    base, make = setting.bases[0], line_ways if "lines" in change else arrangement_ways
    for seed in SEEDS:
        labels = set[str]()
        for workload in range(2):
            labels |= _seen(make(setting, base, random.Random(2 * seed + workload)), setting, change)
        assert all(any(label.startswith((each, f"in order along {each}")) for label in labels) for each in alternatives)


def test_lines_of_integers_come_twice_along_each_axis(prepared: Callable[[str], Setting]) -> None:
    setting = prepared(one_line("x", INTEGERS, "x.sum(0) * 2"))
    draws = [base.values for base in setting.bases]
    for seed in SEEDS:
        axes = set()
        for workload in range(2):
            made = coincidences(setting, setting.bases[0], draws, random.Random(2 * seed + workload))
            value = next(make for label, make in made if label == "lines that come twice")()[0]
            axes |= {axis for axis in (0, 1) if value.unique(dim=axis).shape[axis] < value.shape[axis]}
        assert axes == {0, 1}
