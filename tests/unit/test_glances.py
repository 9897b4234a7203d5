"""What changes among the timed calls alone: weights, and inputs that every draw has alike."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from types import SimpleNamespace
from typing import Any, cast

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.core.problem import Problem, Rules, Workload  # noqa: E402
from kernwright.evaluation.checks.fresh_constants import FreshConstants, constants  # noqa: E402
from kernwright.evaluation.errors.comparison import Verdict  # noqa: E402
from kernwright.evaluation.problem.reference import Reference  # noqa: E402
from kernwright.evaluation.problem.setting import Setting, prepare  # noqa: E402
from kernwright.evaluation.runner.structure import settled  # noqa: E402
from kernwright.evaluation.timing.clocks import Clocks  # noqa: E402
from kernwright.evaluation.timing.glances import LEAST, SURE, Charge, Glances  # noqa: E402
from kernwright.evaluation.timing.race import Race  # noqa: E402
from kernwright.evaluation.trial import Guise  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x, c):
        return x @ torch.exp(c)


def get_inputs():
    grid = torch.arange(8.0)
    return [torch.randn(4, 8), torch.cos(grid[:, None] * grid[None, :])]
"""
POWER = one_line("x, p", "torch.randn(8, 64), {one}")


@pytest.fixture
def setting() -> Iterator[Setting]:
    reference = Reference(Problem(name="p", source=SOURCE, workloads=(Workload(name="w"),)))
    yield prepare(reference, reference.problem.workloads[0], 0, random.Random(1), vary=True)
    reference.close()


def _looked(
    setting: Setting,
    after_ns: Callable[[int], float],
    rules: Rules | None = None,
    beside_ns: Sequence[float] = (2e6,),
    what: str = "FreshWeights.",
    written_ns: float = 0.0,
) -> tuple[Charge | None, int]:
    """What is counted of a candidate whose calls take 1 ms, but those after a change as long as is said; and how many
    looks there were. A baseline's calls take 2 ms, `beside_ns`, in turn, once all samples are taken, and so much longer
    right after its weights were written anew."""
    looks, others_ns, latest_ns, written = 0, cycle(beside_ns), beside_ns[0], False

    def reweigh(_: int) -> None:
        nonlocal written
        written = True

    def require(check: Any, trial: Any) -> None:
        nonlocal looks
        if what in repr(check):
            looks += 1
            trial.latest = Clocks(after_ns(looks), None, after_ns(looks) + 1e5, None)

    track = SimpleNamespace(
        plan=SimpleNamespace(blocks=8), session=SimpleNamespace(clocks=["call"]), guise=lambda *_: None
    )
    glances = Glances(random.Random(3), rules or Rules(), cast(Any, track), require)
    race = Race(setting, frozenset({"eager"}), {"candidate": [], "eager": []})
    calls = {
        "fill": lambda *_: None,
        "call": lambda *_, **__: (Clocks(1e6, None, 1.1e6, None), []),
        "unchanged": lambda *_: torch.ones(2, dtype=torch.bool),
    }
    candidate, eager = (cast(Any, SimpleNamespace(name=name, reweigh=reweigh, **calls)) for name in race.clocks)
    for _ in range(8):
        race.clocks["candidate"] += [Clocks(1e6, None, 1.1e6, None)] * 2
        race.clocks["eager"] += [Clocks(2e6, None, 2.1e6, None)] * 2
        glances.after_block(race, candidate)
    assert looks == LEAST

    def again(_: Race, who: Any) -> Clocks:
        nonlocal written, latest_ns
        if who is eager and not written:
            latest_ns = next(others_ns)
        other_ns = latest_ns + (written_ns if written else 0.0) if who is eager else latest_ns / 2
        written = False
        return Clocks(other_ns, None, other_ns + 1e5, None)

    track.again = again
    charges = glances.later(race, candidate, eager)
    assert len(charges) <= 1
    return charges[0] if charges else None, looks


def test_who_needs_longer_whenever_weights_are_new_counts_so_much_longer(setting: Setting) -> None:
    charge, looks = _looked(setting, lambda look: 1.5e6)
    assert charge is not None
    assert charge[0] == 0.5e6
    assert "as where weights are kept in another form" in charge[1]
    assert SURE <= looks < SURE + LEAST  # some of which say nothing of all weights
    assert _looked(setting, lambda look: 1.5e6, Rules(prepack=True)) == (None, LEAST)


def test_who_needs_longer_whenever_what_draws_have_alike_is_new_counts_so_much_longer(setting: Setting) -> None:
    for rules in (Rules(), Rules(prepack=True)):
        charge, looks = _looked(setting, lambda look: 1.5e6, rules, what="FreshConstants.glance_at_all")
        assert charge is not None
        assert charge[0] == 0.5e6
        assert "an input that is the same in every draw" in charge[1]
        assert looks == SURE
    assert _looked(setting, lambda look: 1e6, what="FreshConstants.glance_at_all") == (None, LEAST)


def test_a_machine_that_became_slower_is_nobodys_charge(setting: Setting) -> None:
    assert _looked(setting, lambda look: 1.3e6)[0] is not None
    assert _looked(setting, lambda look: 1.3e6, beside_ns=[2.6e6])[0] is None
    slower = _looked(setting, lambda look: 1.6e6, beside_ns=[2.6e6])[0]
    assert slower is not None
    assert slower[0] == pytest.approx(0.3e6)
    assert _looked(setting, lambda look: 1.3e6, beside_ns=[1e6])[0] is not None


def test_weights_that_are_out_of_a_cache_are_nobodys_charge(setting: Setting) -> None:
    """A faster candidate waits as long for them as the baseline does."""
    assert _looked(setting, lambda look: 1.3e6, written_ns=0.3e6)[0] is None
    charge = _looked(setting, lambda look: 1.8e6, written_ns=0.3e6)[0]
    assert charge is not None
    assert charge[0] == pytest.approx(0.5e6)
    both = _looked(setting, lambda look: 2e6, beside_ns=[2.2e6], written_ns=0.3e6)[0]
    assert both is not None
    assert both[0] == pytest.approx(0.6e6)
    assert _looked(setting, lambda look: 1.3e6, written_ns=0.3e6, what="FreshConstants.glance_at_all")[0] is not None


def test_a_few_late_calls_of_others_make_no_slower_machine(setting: Setting) -> None:
    """The first after a pause, or one in three."""
    assert _looked(setting, lambda look: 1.3e6, beside_ns=[2.6e6] + 20 * [2e6])[0] is not None
    assert _looked(setting, lambda look: 1.3e6, beside_ns=[2e6, 2e6, 2.6e6])[0] is not None


def test_a_machine_that_became_faster_hides_nobody(setting: Setting) -> None:
    charge = _looked(setting, lambda look: 1.5e6 if look <= LEAST else 0.9e6, beside_ns=[1e6])[0]
    assert charge is not None
    assert charge[0] >= 0.4e6
    assert _looked(setting, lambda look: 1e6 if look <= LEAST else 0.5e6, beside_ns=[1e6])[0] is None


def test_a_charge_counts_what_chance_may_have_hidden(setting: Setting) -> None:
    charge = _looked(setting, lambda look: 1.5e6 + 2e5 * (look % 3))[0]
    assert charge is not None
    assert 0.75e6 < charge[0] < 1e6


def test_two_calls_that_are_no_slower_settle_it(setting: Setting) -> None:
    assert _looked(setting, lambda look: 1.5e6 if look < 6 else 1e6) == (None, 7)
    assert _looked(setting, lambda look: 1.5e6 if look != 6 else 1e6)[0] is not None  # as chance may have it
    assert _looked(setting, lambda look: 1e6) == (None, LEAST)


def test_inputs_that_every_draw_has_alike_are_changed_and_must_be_followed(setting: Setting) -> None:
    first = setting.bases[0].values[1]
    assert constants(setting) == [1]
    seen = list[torch.Tensor]()

    def verified(run: Callable[[list[torch.Tensor]], torch.Tensor]) -> bool:
        def ran(values: list[torch.Tensor]) -> list[torch.Tensor]:
            seen.append(values[1])
            return [run(values)]

        passes = lambda got, case: Verdict(passed=torch.allclose(got[0], case.native[0]), ratio=0.0)  # noqa: E731
        trial = SimpleNamespace(setting=setting, rng=random.Random(2), run=ran, judge=passes, disguise=lambda: None)
        return FreshConstants().verify(cast(Any, trial)).passed

    assert verified(lambda values: values[0] @ torch.exp(values[1]))
    assert not verified(lambda values: values[0] @ torch.exp(first))
    assert all(not torch.equal(value, first) and torch.equal(value, value.T) for value in seen)  # it is symmetric


def test_one_of_few_inputs_counts_as_the_same_and_all_of_it_changes(prepared: Callable[[str], Setting]) -> None:
    setting = prepared(POWER.format(result="x * p", one="torch.sin(torch.arange(64.0) * (1 + (torch.rand(()) < 0.5)))"))
    usual = [base.values[1] for base in setting.bases]
    assert constants(setting) == [1]
    seen = list[torch.Tensor]()

    def ran(values: list[torch.Tensor]) -> list[torch.Tensor]:
        seen.append(values[1])
        return [values[0] * values[1]]

    passes = lambda got, case: Verdict(passed=torch.equal(got[0], case.native[0]), ratio=0.0)  # noqa: E731
    trial = SimpleNamespace(setting=setting, rng=random.Random(2), run=ran, judge=passes, disguise=lambda: None)
    assert FreshConstants().glance_at_all(cast(Any, trial)).passed
    assert all(bool((seen[0][1:] != known[1:]).all()) for known in usual)


@pytest.mark.parametrize(
    ("drawn", "kept"),
    [
        ("torch.cat([torch.linspace(0.1, 0.9, 40), torch.rand(960)])", [0]),
        ("torch.cat([torch.linspace(0.1, 0.9, 4), torch.rand(996)])", []),
        ("torch.randint(1, 9, (1000,)) / 8", []),
        ("(torch.rand(1000) < 0.3).float()", []),
    ],
)
def test_few_numbers_count_as_the_same_where_all_draws_have_them_at_their_places(
    prepared: Callable[[str], Setting], drawn: str, kept: list[int]
) -> None:
    assert constants(prepared(one_line("x", drawn, "x * 2"))) == kept


@pytest.mark.parametrize(
    ("drawn", "kept"),
    [
        ("torch.sin(torch.arange(64.0)) * (0.5 + torch.rand(()))", [0]),
        ("torch.sin(torch.arange(64.0)) * torch.rand(()) + torch.randn(())", [0]),
        ("(torch.sin(torch.arange(64.0)) * (0.5 + torch.rand(()))).bfloat16().float()", []),  # rounded once more
        ("torch.randn(64)", []),
        ("torch.rand(3)", []),
        ("1e6 + torch.randn(64) / 8", []),  # of which few digits are left
        ("torch.zeros(64).scatter(0, torch.randint(64, (1,)), 1.0)", []),
    ],
)
def test_what_is_alike_but_for_a_scale_and_a_shift_counts_as_the_same(
    prepared: Callable[[str], Setting], drawn: str, kept: list[int]
) -> None:
    assert constants(prepared(one_line("x", drawn, "x * 2"))) == kept


def test_a_symmetric_matrix_counts_as_the_same_and_all_that_may_be_alike_in_it_changes(
    prepared: Callable[[str], Setting],
) -> None:
    """Its correlations too."""
    drawn = "(lambda d: d[:, None] * (0.2 * torch.ones(48, 48) + 0.8 * torch.eye(48)) * d)(1 + torch.rand(48))"
    setting = prepared(one_line("x", drawn, "torch.linalg.inv(x)"))
    assert constants(setting) == [0]
    seen = list[torch.Tensor]()

    def ran(values: list[torch.Tensor]) -> list[torch.Tensor]:
        seen.append(values[0])
        return [torch.linalg.inv(values[0])]

    passes = lambda got, case: Verdict(passed=torch.equal(got[0], case.native[0]), ratio=0.0)  # noqa: E731
    trial = SimpleNamespace(setting=setting, rng=random.Random(2), run=ran, judge=passes, disguise=lambda: None)
    assert FreshConstants().glance_at_all(cast(Any, trial)).passed
    (other,) = seen
    assert torch.equal(other, other.T)
    assert bool((torch.linalg.eigvalsh(other) > 0).all())
    scale = other.diagonal().rsqrt()
    correlations = other * scale[:, None] * scale
    assert float((correlations - 0.2).abs().mean()) > 0.02


@pytest.mark.parametrize(
    "drawn",
    [
        "torch.exp(-torch.cdist(*[torch.randn(256, 8)] * 2) ** 2 / 8) + 0.1 * torch.eye(256)",
        "0.2 * torch.ones(256, 256) + torch.diag(0.8 + torch.rand(256))",
    ],
)
def test_definite_matrices_of_one_sign_stay_so(prepared: Callable[[str], Setting], drawn: str) -> None:
    setting, seen = prepared(one_line("x", drawn, "torch.linalg.inv(x)")), list[torch.Tensor]()

    def ran(values: list[torch.Tensor]) -> list[torch.Tensor]:
        seen.append(values[0])
        return [torch.linalg.inv(values[0])]

    passes = lambda got, case: Verdict(passed=True, ratio=0.0)  # noqa: E731
    for seed in range(4):
        trial = SimpleNamespace(setting=setting, rng=random.Random(seed), run=ran, judge=passes, disguise=lambda: None)
        FreshConstants().glance_at_all(cast(Any, trial))
    assert len(seen) == 4
    assert all(bool((value > 0).all()) and not bool(torch.linalg.cholesky_ex(value).info) for value in seen)


@pytest.mark.parametrize("one", ["torch.tensor(2.0)", "torch.full((1,), 2.0)", "torch.full((1, 1), 3.0)"])
def test_one_number_that_every_draw_has_alike_must_be_followed(prepared: Callable[[str], Setting], one: str) -> None:
    setting = prepared(POWER.format(result="torch.pow(x, p)", one=one))
    first = setting.bases[0].values[1]
    assert constants(setting) == [1]

    def verified(run: Callable[[list[torch.Tensor]], torch.Tensor], seed: int) -> bool:
        judged = lambda got, case, rule: rule(got)  # noqa: E731
        trial = SimpleNamespace(
            setting=setting, rng=random.Random(seed), run=lambda v: [run(v)], judge=judged, disguise=lambda: None
        )
        return FreshConstants().verify(cast(Any, trial)).passed

    for seed in range(4):
        assert verified(lambda values: torch.pow(values[0].double(), values[1].double()).float(), seed)
        assert not verified(lambda values: torch.pow(values[0], first), seed)
    assert not any("input 1" in note for note in setting.reference.notes)


@pytest.mark.parametrize(
    ("result", "one"), [("torch.pow(x, p)", "torch.tensor(0.0)"), ("x[:, : int(p)]", "torch.tensor(2.0)")]
)
def test_a_note_says_where_one_number_was_never_another_one(
    prepared: Callable[[str], Setting], result: str, one: str
) -> None:
    setting = prepared(POWER.format(result=result, one=one))
    assert any(note.startswith("input 1 is one number, the same in every draw") for note in setting.reference.notes)


def test_a_sign_that_is_left_to_the_reader_is_turned_round_before() -> None:
    weight = torch.randn(3, 4)
    for result in (torch._neg_view(weight), (1, [torch._neg_view(weight)]), torch.randn(3, dtype=torch.cfloat).conj()):
        leaves = settled(result)
        assert not any(leaf.is_neg() or leaf.is_conj() for leaf in leaves if isinstance(leaf, torch.Tensor))
    assert torch.equal(settled((1, [torch._neg_view(weight)]))[1], -weight)
    assert settled(weight) is weight


def test_the_result_that_is_held_is_of_a_draw_that_nobody_knows(setting: Setting) -> None:
    held, made = list[Any](), list[str]()

    def call(index: int, chosen: int, values: Any, *, hold: bool = False, **_: Any) -> Any:
        held.extend([values] if hold else [])
        made.append("held" if hold else "ran")
        return Clocks(1e6, None, 1.1e6, None), []

    guise = Guise(lambda: made.append("ordinary"), lambda: made.append("cooled"))
    track = SimpleNamespace(
        plan=SimpleNamespace(blocks=4), session=SimpleNamespace(clocks=["call"]), guise=lambda *_: guise
    )
    glances = Glances(random.Random(3), Rules(), cast(Any, track), lambda check, trial: None)
    race = Race(setting, frozenset(), {"candidate": []})
    calls = {"fill": lambda *_: None, "call": call, "unchanged": lambda *_: torch.ones(2, dtype=torch.bool)}
    for _ in range(4):
        race.clocks["candidate"] += [Clocks(1e6, None, 1.1e6, None)] * 2
        glances.after_block(race, cast(Any, SimpleNamespace(name="candidate", **calls)))
    assert len(held) == 1
    assert not any(torch.equal(held[0][0], base.values[0]) for base in setting.bases)
    assert made[:3] == ["ordinary", "cooled", "held"]
