"""Kernels that rely on what every draw of an input has in common are right on values that the judge makes up too."""

import random
from collections.abc import Callable, Iterator

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.checks.extremes import cases as extremes  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.problem.cases import Case  # noqa: E402
from kernwright.evaluation.problem.setting import Setting, scaled  # noqa: E402

SOURCE = one_line("x, y", "torch.randn(40, 70), {drawn}")
MASK = ("x * y / 0.9", "(torch.rand(40, 70) < 0.9).float()")
EDGES = ("torch.bucketize(x, y)", "torch.randn(33).sort().values")
GATES = ("torch.lerp(x, x.flip(0), y).sum(1)", "torch.rand(40, 70) * 0.3 + 0.7")


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Callable[[tuple[str, str]], Setting]:
    def make(source: tuple[str, str]) -> Setting:
        return prepared(SOURCE.format(result=source[0], drawn=source[1]))

    return make


def _cases(setting: Setting) -> Iterator[Case]:
    for seed in range(4):
        rng = random.Random(seed)
        found = scaled(setting, rng)
        yield from [found] if found is not None else []
        yield setting.case(setting.recombined(rng), "spliced", 0)
        yield from extremes(setting, rng)
        yield from (probe.case for probe in probes(setting, rng))


def _by_logarithms(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    decay = y.double().log().exp()
    assert bool((decay <= 1).all())
    return (x + decay * (x.flip(0) - x)).sum(1).float()


@pytest.mark.parametrize(
    ("source", "kernel", "labels"),
    [
        (MASK, lambda x, y: torch.where(y == 1, x / 0.9, 0.0), {"tiny", "outliers", "far from zero, spikes"}),
        (EDGES, lambda x, y: (x.unsqueeze(-1) > y).sum(-1), {"ties", "infinities"}),
        (GATES, _by_logarithms, {"tiny", "outliers", "far from zero, spikes"}),
    ],
)
def test_such_kernels_are_right(
    setting_of: Callable[[tuple[str, str]], Setting],
    source: tuple[str, str],
    kernel: Callable[..., torch.Tensor],
    labels: set[str],
) -> None:
    setting, seen = setting_of(source), set()
    for case in _cases(setting):
        verdict = compare([kernel(*case.values)], case, setting.reference.problem)
        assert verdict.passed, (case.label, verdict.detail)
        seen.add(case.label)
    assert labels <= seen
    assert any(note.startswith("input 1 ") for note in setting.reference.notes)


def test_what_lies_beside_them_is_probed_still(setting_of: Callable[[tuple[str, str]], Setting]) -> None:
    setting = setting_of(MASK)
    limited = [
        compare([c.values[0].clamp(-9, 9) * c.values[1] / 0.9], c, setting.reference.problem) for c in _cases(setting)
    ]
    assert any(not verdict.passed for verdict in limited)
    assert 1 in setting.free
    assert setting.marks == {1}
