"""A secret share of the timed calls has values that the generator does not give, and slowness there counts."""

import random
from collections.abc import Callable
from typing import Any, cast

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

from kernwright.core.plan import QUICK  # noqa: E402
from kernwright.evaluation.drawing.mixture import HEAVY, LIGHT, Mixture  # noqa: E402
from kernwright.evaluation.problem.known import Known  # noqa: E402
from kernwright.evaluation.problem.setting import Setting, prepare  # noqa: E402
from kernwright.evaluation.timing.burst_inputs import kinds_of  # noqa: E402
from kernwright.evaluation.timing.clocks import Clocks  # noqa: E402
from kernwright.evaluation.timing.dependence import charge_dependence  # noqa: E402
from kernwright.evaluation.timing.race import Race  # noqa: E402
from kernwright.evaluation.timing.track import Track  # noqa: E402

SOURCE = one_line("x", "{drawn}")
Made = Callable[[str, str], Setting]


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Made:
    def make(result: str, drawn: str) -> Setting:
        return prepared(SOURCE.format(result=result, drawn=drawn))

    return make


def _mixture(setting: Setting) -> Mixture:
    assert setting.mixture is not None
    return setting.mixture


@pytest.mark.parametrize(
    ("result", "drawn", "strength"),
    [
        ("x.sum(1)", "torch.randn(64, 256)", HEAVY),
        ("torch.softmax(x, 1)", "torch.randn(64, 256, dtype=torch.bfloat16)", HEAVY),
        ("torch.view_as_real(x).sum((1, 2))", "torch.randn(64, 256, dtype=torch.complex64)", HEAVY),
        ("torch.exp(x)", "torch.randn(64, 256)", LIGHT),
        ("torch.log1p(-x)", "torch.rand(64, 256)", None),
        ("x.sort().values", "torch.randint(0, 999, (3000,))", None),
    ],
)
def test_values_differ_as_much_as_the_reference_bears(
    setting_of: Made, result: str, drawn: str, strength: object
) -> None:
    setting, rng = setting_of(result, drawn), random.Random(2)
    known = _mixture(setting)
    assert known.strength == strength
    base = setting.bases[0].values
    before = base[0].clone()
    for kind in known.kinds:
        (value,) = setting.mixed(base, kind, rng)
        assert value.shape == before.shape
        assert value.dtype == before.dtype
        assert 0.3 < float((value == before).float().mean()) < 1.0
        assert torch.equal(value == 0, before == 0)
        outputs = setting.reference.outputs(setting.model, [value])
        assert all(bool(torch.isfinite(t).all()) for t in outputs)
    assert torch.equal(base[0], before)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "complex64", "complex128"])
def test_every_type_of_numbers_has_a_size(setting_of: Made, dtype: str) -> None:
    setting = setting_of("x * 2", f"torch.randn(40, 30, dtype=torch.{dtype})")
    assert setting.mixture is not None
    assert setting.mixture.sizes[0] == pytest.approx(1.0, rel=0.5)


def test_marks_stay_as_they_were_drawn(setting_of: Made) -> None:
    assert setting_of("x.relu()[:, :2]", "torch.randint(0, 9, (64, 256)).float()").mixture is None


def test_one_draw_does_not_tell_what_may_differ(setting_of: Made) -> None:
    reference = setting_of("x.sum(1)", "torch.randn(64, 256)").reference
    reference.known = Known()
    (workload,) = reference.problem.workloads
    assert prepare(reference, workload, 0, random.Random(1), vary=True, bases=1).mixture is None
    assert reference.known.get(workload, "mixture", "nothing") == "nothing", "who has more draws finds out"


def test_ranges_hold_where_they_have_to(setting_of: Made) -> None:
    setting = setting_of("torch.log1p(-x)", "torch.rand(64, 256)")
    for seed in range(8):
        (value,) = setting.mixed(setting.bases[0].values, "larger", random.Random(seed))
        assert float(value.amax()) < 1.0
        assert torch.isin(value, setting.bases[0].values[0]).all()


@pytest.mark.parametrize(
    ("result", "drawn"),
    [
        pytest.param("torch.linalg.cholesky(x)", "(lambda a: a @ a.T + torch.eye(9))(torch.randn(9, 9))", id="factor"),
        pytest.param("x.float().cumsum(0)", "torch.randint(0, 99, (60,)).sort().values", id="order"),
    ],
)
def test_what_hangs_together_is_left_as_it_was_drawn(setting_of: Made, result: str, drawn: str) -> None:
    setting = setting_of(result, drawn)
    assert setting.mixture is None
    values = setting.bases[0].values
    assert setting.mixed(values, "stretch", random.Random(1)) is values


def test_a_look_at_a_few_elements_does_not_tell(setting_of: Made) -> None:
    """What one in 32 elements say of a spiked tensor is mostly what they say of a plain one, and the sum says more."""
    setting = setting_of("x.abs().mean()", "torch.randn(1 << 16)")
    values, seen, moved = setting.bases[0].values, 0, 0
    usual = float(values[0].abs().mean())
    for seed in range(20):
        (value,) = setting.mixed(values, "few", random.Random(seed))
        seen += not torch.equal(value[::32], values[0][::32])
        moved += float(value.abs().mean()) > 1.01 * usual
    assert seen <= 6
    assert moved == 20


def test_nearly_half_of_the_blocks_are_mixed_and_nobody_knows_which(setting_of: Made) -> None:
    setting = setting_of("x.sum(1)", "torch.randn(64, 256)")
    race = Race(setting, frozenset({"eager"}), {"candidate": [], "eager": []})
    trusted, untrusted = (cast(Any, type("Racer", (), {"name": name})) for name in ("eager", "candidate"))
    track = Track(cast(Any, None), QUICK, random.Random(1), False)
    chosen = [track._mixed_blocks(untrusted, race) for _ in range(50)]
    assert {len(each) for each in chosen} == {3, 4}
    assert len({frozenset(each) for each in chosen}) > 30
    assert all({*each.values()} == {"stretch", "many", "few"} for each in chosen)
    assert {track._kind(chosen[0], 9) is None for _ in range(40)} == {True, False}
    assert track._mixed_blocks(trusted, race) == {}
    assert track._kind({}, 9) is None
    kinds = kinds_of(setting, 64, random.Random(1))
    assert all((a is None) != (b is None) for a, b in zip(kinds[::2], kinds[1::2], strict=True))
    assert {*kinds} == {None, "stretch", "many", "few"}


def _race(candidate: list[float], eager: list[float], mixed: list[int]) -> Race:
    """One number a block, in milliseconds."""
    clocks = {
        name: [Clocks(t * 1e6, t * 1e6, t * 1e6, t * 1e6) for t in times for _ in range(2)]
        for name, times in (("candidate", candidate), ("eager", eager))
    }
    return Race(cast(Any, None), frozenset({"eager"}), clocks, mixed=dict.fromkeys(mixed, "few"))


def test_a_slow_exact_path_counts_for_all_calls() -> None:
    race = _race([1.0, 2.02, 1.01, 2.0, 0.99, 1.0, 1.02, 1.98], [2.0] * 8, [1, 3, 7])
    assert charge_dependence(race, "candidate") == pytest.approx(1.0, rel=0.05)
    assert race.times_ns("candidate") == pytest.approx([2e6] * 16, rel=0.05)
    assert race.times_ns("eager") == [2e6] * 16


def test_what_baselines_do_too_is_nobodys() -> None:
    race = _race([1.0, 2.0, 1.0, 2.0, 1.0, 1.0, 1.0, 2.0], [2.0, 4.01, 2.0, 4.0, 2.0, 2.01, 2.0, 3.99], [1, 3, 7])
    before = race.times_ns("candidate")
    assert charge_dependence(race, "candidate") == 0.0
    assert race.times_ns("candidate") == before


def test_a_baseline_that_dawdles_on_mixed_values_helps_nobody() -> None:
    race = _race([1.0] * 8, [2.0, 4.0, 2.0, 4.0, 2.0, 2.0, 2.0, 4.0], [1, 3, 7])
    assert charge_dependence(race, "candidate") == pytest.approx(-0.5, rel=0.01)
    assert race.times_ns("candidate")[2:4] == pytest.approx([2e6, 2e6])
    assert race.times_ns("candidate")[:2] == [1e6, 1e6]


def test_disturbed_blocks_are_not_held_against_a_candidate() -> None:
    rng = random.Random(5)
    charged = 0
    for _ in range(400):
        times = [rng.lognormvariate(0, 0.03) * (10 if rng.random() < 0.1 else 1) for _ in range(8)]
        charged += charge_dependence(_race(times, [1.0] * 8, rng.sample(range(8), 4)), "candidate") != 0.0
    assert charged <= 8
