"""Numbers of a side of 0 that no draw is on: tried where the reference bears them, among timed calls too."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = one_line("x, y", "{drawn}, torch.randn(256)")
Made = Callable[..., Setting]
LABELS = {"a few other signs", "a stretch of other signs"}


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Made:
    def make(result: str, drawn: str = "torch.rand(64, 256)") -> Setting:
        return prepared(SOURCE.format(result=result, drawn=drawn))

    return make


def failed(setting: Setting, kernel: Callable[..., object], seed: int = 2) -> tuple[set[str], set[str]]:
    """Labels of these cases, and of those in which this kernel is wrong."""
    seen, wrong = set(), set()
    for probe in probes(setting, random.Random(seed)):
        if probe.case.label in LABELS:
            seen.add(probe.case.label)
            if not probe.compare([kernel(*probe.case.values)]).passed:
                wrong.add(probe.case.label)
    return seen, wrong


def test_who_decides_the_sign_by_a_sample_is_found_out(setting_of: Made) -> None:
    setting = setting_of("torch.where(x < 0, x.exp(), x + 1) * y")
    right = lambda x, y: torch.where(x < 0, x.exp(), x + 1) * y  # noqa: E731
    by_sample = lambda x, y: right(x, y) if x[:, ::64].min() < 0 else (x + 1) * y  # noqa: E731
    assert failed(setting, right) == (LABELS, set())
    found = [failed(setting, by_sample, seed)[1] for seed in range(6)]
    assert all(found)
    assert sum(map(len, found)) >= 9


@pytest.mark.parametrize(
    ("result", "drawn"),
    [
        pytest.param("x * y", "torch.randn(64, 256)", id="both sides"),
        pytest.param("x * y", "torch.rand(64, 256) + 0.5", id="away from 0"),
        pytest.param("x.sqrt() * y", "torch.rand(64, 256)", id="refused"),
        pytest.param("x.sum().sqrt() * y", "torch.rand(64, 256)", id="refused on the whole"),
        pytest.param("torch.nn.functional.binary_cross_entropy(x, x) * y", "torch.rand(64, 256)", id="out of range"),
        pytest.param("x * y", "torch.randint(0, 9, (64, 256)).float()", id="marks"),
    ],
)
def test_signs_stay_where_both_come_or_only_one_makes_sense(setting_of: Made, result: str, drawn: str) -> None:
    setting = setting_of(result, drawn)
    assert failed(setting, lambda x, y: x) == (set(), set())
    assert setting.mixture is None or (setting.mixture.turned == () and "signs" not in setting.mixture.kinds)


@pytest.mark.parametrize("drawn", ["torch.rand(64, 256)", "-torch.rand(64, 256)"])
def test_timed_calls_have_a_few_of_them(setting_of: Made, drawn: str) -> None:
    setting = setting_of("torch.log1p(x.abs()) * y", drawn)
    assert setting.mixture is not None
    assert setting.mixture.turned == (0,)
    base = setting.bases[0].values
    before = base[0].clone()
    counts = []
    for seed in range(20):
        value, other = setting.mixed(base, "signs", random.Random(seed))
        changed = value != before
        assert torch.equal(value[changed], -before[changed])
        assert other is base[1]
        counts.append(int(changed.sum()))
    assert torch.equal(base[0], before)
    assert min(counts) >= 1
    assert max(counts) <= 16
    assert len(set(counts)) > 4


def test_where_nothing_may_be_larger_signs_may_differ(setting_of: Made) -> None:
    setting = setting_of("torch.log1p(-x) * y")
    assert setting.mixture is not None
    assert setting.mixture.turned == (0,)
    assert setting.mixture.kinds == ("larger", "signs")
