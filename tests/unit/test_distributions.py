"""Values that no generator draws find what its own hide, and leave honest kernels alone."""

import random

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from collections.abc import Callable  # noqa: E402

from kernwright.core.errors import UserError  # noqa: E402
from kernwright.evaluation.errors.gross import merely_unstable  # noqa: E402
from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.probes.probe import _is_within  # noqa: E402
from kernwright.evaluation.problem.physics import moving_bytes  # noqa: E402
from kernwright.evaluation.problem.place import HOST, Place  # noqa: E402
from kernwright.evaluation.problem.reference import Reference  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.shortage import NOTE, where_possible  # noqa: E402

SOURCE = one_line("x{more}", "torch.randn(33, 70){inputs}")


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Callable[..., Setting]:
    def make(result: str, more: str = "", inputs: str = "", place: Place = HOST) -> Setting:
        return prepared(SOURCE.format(result=result, more=more, inputs=inputs), place)

    return make


def failed(setting: Setting, kernel: "Callable[..., object]", seed: int = 2) -> set[str]:
    """Labels of the cases in which this kernel is wrong."""
    wrong = set()
    for probe in probes(setting, random.Random(seed)):
        got = kernel(*probe.case.values)
        if not probe.compare(list(got) if isinstance(got, tuple) else [got]).passed:
            wrong.add(probe.case.label)
    return wrong


def labels(setting: Setting) -> set[str]:
    return {probe.case.label for probe in probes(setting, random.Random(2))}


def test_a_linear_problem_gets_exact_integers_and_a_lost_term_shows(setting_of: "Callable[..., Setting]") -> None:
    setting = setting_of("x @ y", ", y", ", torch.randn(70, 9)")
    assert "small integers" in labels(setting)
    assert failed(setting, lambda x, y: x @ y) == set()
    assert failed(setting, lambda x, y: (x.double() @ y.double()).float() + 1e-6) <= {"tiny"}
    assert "small integers" in failed(setting, lambda x, y: x[:, 1:] @ y[1:])


@pytest.mark.parametrize("result", ["torch.softmax(x, 1)", "torch.round(x * 0.37)", "x.mean(1)", "x / 3"])
def test_what_is_not_exact_on_integers_is_not_asked_to_be(setting_of: "Callable[..., Setting]", result: str) -> None:
    assert "small integers" not in labels(setting_of(result))


def test_ties_ask_for_the_first_maximum_and_leave_orders_alone(setting_of: "Callable[..., Setting]") -> None:
    first = setting_of("x.argmax(1)")
    assert {"ties", "infinities"} <= labels(first)
    assert failed(first, lambda x: x.argmax(1)) == set()
    assert failed(first, lambda x: x.shape[1] - 1 - x.flip(1).argmax(1)) == {"ties", "zeros of both signs"}
    top = setting_of("torch.topk(x, 5).indices, torch.topk(x, 5).values")
    backwards = lambda x: (x.shape[1] - 1 - x.flip(1).topk(5).indices, x.topk(5).values)  # noqa: E731
    assert "ties" in labels(top)
    assert "ties" not in failed(top, backwards)


def test_a_stable_order_is_nobodys_choice(setting_of: "Callable[..., Setting]") -> None:
    backwards = lambda x: 69 - x.flip(1).argsort(dim=1, stable=True)  # noqa: E731
    stable = setting_of("x.argsort(dim=1, stable=True)")
    assert "ties" in failed(stable, backwards)
    assert failed(stable, lambda x: x.sort(dim=1, stable=True).indices) == set()
    assert "ties" not in failed(setting_of("x.argsort(dim=1)"), backwards)


def test_infinities_pass_through_selections(setting_of: "Callable[..., Setting]") -> None:
    most = setting_of("x.amax(1)")
    assert failed(most, lambda x: x.amax(1)) == set()
    shown = ["infinities" in failed(most, lambda x: x.clamp(-1e30, 1e30).amax(1), seed) for seed in range(12)]
    assert sum(shown) >= 6  # a row that has -inf too is asked for nothing


def test_starting_values_and_epsilons_show(setting_of: "Callable[..., Setting]") -> None:
    most = setting_of("x.amax(1)")
    assert "all negative" in failed(most, lambda x: x.amax(1).clamp_min(0))
    norm = setting_of("torch.nn.functional.layer_norm(x, (70,), eps=1e-5)")
    assert failed(norm, lambda x: torch.nn.functional.layer_norm(x, (70,), eps=1e-5)) == set()
    assert failed(norm, lambda x: torch.nn.functional.layer_norm(x, (70,), eps=1e-6)) >= {"tiny"}


def test_zeros_by_chance_are_not_counted_on(setting_of: "Callable[..., Setting]") -> None:
    sparse = setting_of("x + 0 * y", ", y", ", torch.randn(33, 70) * (torch.rand(33, 70) < 0.04)")
    assert "no zeros" in labels(sparse)
    few = setting_of("torch.cosh(y)", ", y", ", torch.randn(33, 70) * (torch.rand(33, 70) < 0.04)")

    def with_room(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        at = y.flatten().nonzero()[: y.numel() // 5, 0]
        result = torch.ones_like(y).flatten()
        result[at] = torch.cosh(y.flatten()[at])
        return result.view_as(y)

    assert failed(few, lambda x, y: torch.cosh(y)) == set()
    assert "no zeros" in failed(few, with_room)
    triangle = setting_of("torch.cosh(y)", ", y", ", torch.randn(33, 33).tril()")
    assert all(torch.equal(p.case.values[1], p.case.values[1].tril()) for p in probes(triangle, random.Random(2)))
    assert "no zeros" not in labels(setting_of("torch.cosh(x)"))


def test_bytes_that_move_nothing_are_not_counted(setting_of: "Callable[..., Setting]") -> None:
    all_of_it = 33 * 70 * 4
    assert 0.85 * all_of_it < moving_bytes(setting_of("torch.relu(x)"), random.Random(0)) <= all_of_it
    half = moving_bytes(setting_of("x[:16] * 2"), random.Random(0))
    assert 0.2 * all_of_it < half < 0.6 * all_of_it
    assert moving_bytes(setting_of("x * 0 + 1"), random.Random(0)) == 0.0


def test_a_single_whole_number_has_no_other_value_to_take(setting_of: "Callable[..., Setting]") -> None:
    setting = setting_of("x * n", ", n", ", torch.tensor([3])")
    assert 0 < moving_bytes(setting, random.Random(0)) <= 33 * 70 * 4


def test_a_mean_of_a_part_is_told_from_the_whole(setting_of: "Callable[..., Setting]") -> None:
    setting = setting_of("x.abs().mean()")
    assert {"uneven", "outliers"} <= failed(setting, lambda x: x[::2].abs().mean())
    assert not failed(setting, lambda x: x.abs().sum() / x.numel())


def test_few_digits_of_tiny_results_are_enough_where_usual_ones_are_large(
    setting_of: "Callable[..., Setting]",
) -> None:
    setting = setting_of("torch.tanh(x)")
    assert not failed(setting, lambda x: 2 * torch.sigmoid(2 * x) - 1)
    assert "tiny" in failed(setting, lambda x: torch.tanh(x) + 1e-5)


def test_where_a_device_has_little_room_work_left_out_shows_too(setting_of: "Callable[..., Setting]") -> None:
    little = Place(memory_bytes=300_000)
    setting = setting_of("x.abs().mean(1) + (t @ x.T).mean(0)", ", t", ", torch.randn(70, 70).tril()", little)
    assert setting.lean
    assert {"uneven", "outliers"} <= labels(setting) <= {"uneven", "outliers", "no zeros"}
    assert setting.fan_in != ()
    assert all(torch.equal(p.case.values[1], p.case.values[1].tril()) for p in probes(setting, random.Random(2)))
    assert failed(setting, lambda x, t: x.abs().mean(1) + (t @ x.T).mean(0)) == set()
    assert "outliers" in failed(setting, lambda x, t: x[:, ::2].abs().mean(1) + (t @ x.T).mean(0))
    sparse = setting_of("torch.cosh(y)", ", y", ", torch.randn(33, 70) * (torch.rand(33, 70) < 0.04)", little)
    assert "no zeros" in labels(sparse)


def test_where_a_device_has_little_room_errors_are_still_measured_in_float64(
    setting_of: "Callable[..., Setting]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were PyTorch's own result the oracle, its error would stand for none, and a better kernel's for its own."""
    setting = setting_of("torch.softmax(x @ x.T, 1) @ x", "", "", Place(memory_bytes=300_000))
    assert setting.lean
    case = setting.case(setting.bases[0].values, "by hand", 0)
    assert case.native[0].dtype == torch.float32
    assert case.oracle[0].dtype == torch.float64
    assert setting.reference.notes == []
    monkeypatch.setattr(Reference, "wide", _no_room)
    case = setting.case(setting.bases[0].values, "by hand", 0)
    assert case.oracle[0] is case.native[0]
    assert "own precision" in setting.reference.notes[0]


def _no_room(*_: object) -> list[torch.Tensor]:
    raise torch.OutOfMemoryError("CUDA out of memory")


def test_one_sided_values_may_cost_other_digits_than_the_reference_loses(
    setting_of: "Callable[..., Setting]",
) -> None:
    setting = setting_of("torch.softmax(x @ x.T / 8, 1) @ x")

    def off_by(share: float) -> "Callable[[torch.Tensor], torch.Tensor]":
        def kernel(x: torch.Tensor) -> torch.Tensor:
            result = torch.softmax(x @ x.T / 8, 1) @ x
            result[3, 4] += share * result.abs().max()
            return result

        return kernel

    one_sided = {"all positive", "all negative"}
    assert {"outliers", "uneven"} <= failed(setting, off_by(0.01)) <= labels(setting) - one_sided
    assert one_sided <= failed(setting, off_by(0.05))
    assert one_sided <= failed(setting, lambda x: torch.full_like(x, torch.nan))


def test_more_digits_may_be_lost_where_the_reference_loses_many() -> None:
    true, own = torch.tensor([1.0, 2.0], dtype=torch.float64), torch.tensor([1.0, 2.01])
    assert merely_unstable([torch.tensor([1.1, 2.0])], [own], [true])
    assert not merely_unstable([torch.tensor([1.5, 2.0])], [own], [true])
    assert not merely_unstable([torch.tensor([1.1, 2.0])], [true.float()], [true])
    huge = torch.tensor([3e38 + 3e38j, 1 + 1j])  # whose size overflows
    assert merely_unstable([huge], [huge], [huge])
    assert not merely_unstable([torch.tensor([3e38 + 3e38j, torch.nan])], [huge], [huge])
    places = torch.tensor([1, 2])
    assert merely_unstable([places], [places], [places])
    assert not merely_unstable([places + 1], [places], [places])


@pytest.mark.parametrize("usual", [torch.inf, 3.0])
def test_next_to_nothing_beside_usual_results_is_no_infinite_number(usual: float) -> None:
    true, usually = torch.tensor([1.0, 1.0], dtype=torch.float64), torch.tensor([1.0, usual])
    assert _is_within(1e-5, torch.tensor([1.0, 1.000001]), true, usually)
    for wrong in (torch.inf, torch.nan, 2.0):
        assert not _is_within(1e-5, torch.tensor([1.0, wrong]), true, usually)


def test_a_selection_is_known_by_all_of_its_values(setting_of: "Callable[..., Setting]") -> None:
    assert {"ties", "infinities"} <= labels(setting_of("x.amax(1)"))
    assert "ties" in labels(setting_of("torch.cat([x.amax(1), x.amax(1)])"))
    assert "ties" not in labels(setting_of("torch.cat([x.amax(1), x.mean(1)])"))
    assert "ties" not in labels(setting_of("x.flip(1)"))


def test_a_probe_without_room_is_none_for_who_has_all_memory(setting_of: "Callable[..., Setting]") -> None:
    def made() -> None:
        raise torch.OutOfMemoryError("out of memory")

    def refused() -> None:
        raise UserError("not such values")

    def broken() -> None:
        raise RuntimeError("a mistake")

    reference = setting_of("torch.tanh(x)").reference
    assert where_possible(reference, refused) is None
    assert where_possible(reference, lambda: 3) == 3
    assert where_possible(reference, lambda: torch.empty(1 << 60)) is None
    assert reference.notes == [NOTE]
    with pytest.raises(RuntimeError, match="mistake"):
        where_possible(reference, broken)
    assert where_possible(reference, made) is None
    reference.has_all_memory = False
    with pytest.raises(torch.OutOfMemoryError):
        where_possible(reference, made)


def test_a_reference_without_room_for_a_probe_ends_nothing(setting_of: "Callable[..., Setting]") -> None:
    setting = setting_of("torch.tanh(x) if x.max() < 20 else torch.empty(1 << 60)")
    assert "tiny" in labels(setting)
    assert "outliers" not in labels(setting)
    assert setting.reference.notes == [NOTE]


def test_a_zero_shows_who_takes_it_for_positive(setting_of: "Callable[..., Setting]") -> None:
    setting = setting_of("(x > 0).sum(-1)")
    assert failed(setting, lambda x: x.shape[-1] - torch.signbit(x).sum(-1)) >= {"a zero"}
    assert failed(setting, lambda x: (x.view(torch.int32) > 0).sum(-1)) == set()


def test_a_symmetric_input_keeps_nobody_from_asking_about_others(setting_of: "Callable[..., Setting]") -> None:
    setting = setting_of("(x @ a).relu()", ", a", ", (lambda a: a + a.T)(torch.randn(70, 70))")
    assert setting.held == {1}
    assert failed(setting, lambda x, a: (x @ a).relu().clamp(max=200.0))
    for probe in probes(setting, random.Random(2)):
        a = probe.case.values[1]
        assert any(torch.equal(a, base.values[1]) for base in setting.bases)


@pytest.mark.parametrize(
    ("result", "asked"), [("x.relu()", False), ("x.abs()", False), ("x.prod(1)", True), ("x.tanh()", True)]
)
def test_gradients_are_asked_about_at_a_zero_where_it_is_no_kink(
    prepared: Callable[..., Setting], result: str, asked: bool
) -> None:
    setting = prepared(one_line("x", "torch.randn(33, 7)", result), backward=True)
    probe = next((probe for probe in probes(setting, random.Random(2)) if probe.case.label == "a zero"), None)
    assert (probe is not None) == asked
    if probe is not None and "prod" in result:
        x, along = probe.case.values
        product, gradient = probe.case.native
        assert probe.compare([product, gradient.clone()]).passed
        assert not probe.compare([product, (along * product)[:, None] / x]).passed


def test_infinities_of_the_reference_are_asked_for_and_what_is_no_number_is_not(
    setting_of: "Callable[..., Setting]",
) -> None:
    logarithm = setting_of("torch.log(y) + 0 * x.sum()", ", y", ", torch.rand(33, 70)")
    assert "a zero" in failed(logarithm, lambda x, y: torch.log(y.clamp(min=1e-9)))
    assert failed(logarithm, lambda x, y: torch.log2(y) * 0.6931471805599453) == set()
    assert "a zero" not in labels(setting_of("x * y / y", ", y", ", torch.rand(33, 70)"))


def test_what_is_left_of_large_terms_excuses_no_other_result(setting_of: Callable[..., Setting]) -> None:
    """One result is a little more off than is allowed, and another one wrong."""
    setting = setting_of("(torch.cdist(x, x + 1), x.argmax(-1))")
    [probe] = [each for each in probes(setting, random.Random(1)) if each.case.label == "outliers"]
    distances, places = (t.clone() for t in probe.case.native)
    off = next(n for n in range(20, -60, -1) if probe.compare([distances * (1 + 2.0**n), places]).passed)
    little = distances * (1 + 1.6 * 2.0 ** (off - 1))
    assert probe.compare([little, places]).passed
    assert not probe.compare([little, places.flip(0)]).passed
    assert not probe.compare([distances * 2, places]).passed
