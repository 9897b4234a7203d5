"""What numbers of an input have to do with each other in every draw is found, and values that are made up keep it."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.drawing.regularity import kept, regularities  # noqa: E402
from kernwright.evaluation.drawing.relations import lines_of  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.problem.setting import Setting, scaled  # noqa: E402

Draw = Callable[[], torch.Tensor]


def _unit() -> torch.Tensor:
    return torch.nn.functional.normalize(torch.randn(200, 64), dim=-1)


def _twice() -> torch.Tensor:
    angles = torch.rand(30, 16)
    return torch.cat([angles, angles], -1).cos()


def _boxes() -> torch.Tensor:
    corner = torch.rand(50, 2) * 100
    return torch.cat([corner, corner + torch.rand(50, 2) * 30], -1)


def _drawn(make: Callable[[], object]) -> list[object]:
    torch.manual_seed(3)
    return [make() for _ in range(3)]


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: torch.randn(40, 1000).softmax(-1), "sum"),
        (lambda: torch.randn(40, 1000, dtype=torch.bfloat16).softmax(-1), "sum"),
        (lambda: torch.randn(5, 6, 33, dtype=torch.float64).softmax(-1), "sum"),
        (_unit, "norm"),
        (lambda: _unit().half(), "norm"),
        (lambda: 3.5 * _unit(), "norm"),
        (_twice, "halves"),
        (lambda: torch.randn(30, 16).repeat_interleave(2, -1), "pairs"),
        (_boxes, "bounds"),
    ],
)
def test_lines_that_hang_together_are_known(make: Draw, kind: str) -> None:
    draws = _drawn(make)
    found = lines_of(draws)
    assert found is not None
    assert found.kind == kind
    wild = torch.randn(draws[0].shape) * 40
    wild[0] = 0.0
    made = found.kept(wild.to(draws[0].dtype))
    assert made.dtype == draws[0].dtype
    assert bool(torch.isfinite(made).all())
    again = lines_of([made, *draws])
    assert again is not None
    assert again.kind == kind
    assert again.size == pytest.approx(found.size, rel=1e-2)
    assert not torch.equal(made, draws[0])


@pytest.mark.parametrize(
    ("make", "kind", "axis"),
    [
        (lambda: torch.randn(8, 5, 12, 12).softmax(1), "sum", 1),
        (lambda: torch.randn(300, 40).softmax(0), "sum", 0),
        (lambda: torch.nn.functional.normalize(torch.randn(64, 32, 7), dim=1), "norm", 1),
        (lambda: torch.polar(torch.full((20, 30), 2.0), torch.rand(20, 30) * 6), "phases", -1),
    ],
)
def test_lines_along_other_axes_and_phases_are_known(make: Draw, kind: str, axis: int) -> None:
    draws = _drawn(make)
    found = lines_of(draws)
    assert found is not None
    assert (found.kind, found.axis) == (kind, axis)
    wild = torch.randn_like(draws[0]) * 40
    wild[0] = 0.0
    made = found.kept(wild)
    assert made.shape == draws[0].shape
    if kind == "sum":
        torch.testing.assert_close(made.sum(axis), torch.ones_like(made.sum(axis)))
    elif kind == "norm":
        torch.testing.assert_close(made.norm(dim=axis), torch.ones_like(made.norm(dim=axis)))
    else:
        torch.testing.assert_close(made.abs(), torch.full((20, 30), 2.0))
    assert ("axis 1" in found.described()) == (axis == 1)


def test_shares_along_another_axis_stay_shares(prepared: Callable[..., Setting]) -> None:
    source = one_line(
        "p, x", "torch.randn(8, 5, 6, 6).softmax(1), torch.randn(8, 5, 6, 6)", "(p * x).sum(1) / p.sum(1)"
    )
    setting = prepared(source)
    seen = 0
    for probe in probes(setting, random.Random(2)):
        p, x = probe.case.values
        seen += 1
        assert probe.compare([(p * x).sum(1)]).passed, probe.case.label
    assert seen > 5


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.randn(40, 1000),
        lambda: torch.rand(40, 2),
        lambda: torch.randn(1 << 20),
        lambda: torch.randn(1 << 16, dtype=torch.bfloat16),
        lambda: torch.ones(30, 40),
        lambda: torch.zeros(30, 40),
        lambda: torch.rand(30, 1),
        lambda: torch.randn(()),
        lambda: torch.cat([torch.rand(50, 2), torch.rand(50, 2) + 5], -1),
        lambda: torch.cat([torch.randn(300, 1), torch.rand(300, 1) * 100 + 2.5], -1),
        lambda: torch.randn(20, 8, dtype=torch.complex64),
    ],
)
def test_what_chance_brings_is_no_relation(make: Draw) -> None:
    assert lines_of(_drawn(make)) is None


@pytest.mark.parametrize(
    ("inputs", "result", "kernel"),
    [
        ("*[torch.randn(16, 32)] * 2", "x @ y.mT", lambda x, y: x @ x.mT),
        ("*[torch.randn(16, 32)] * 2", "x * y - x.mean(0)", lambda x, y: y * y - y.mean(0)),
        ("torch.randn(16, 32), torch.randn(1, 32).expand(16, 32)", "(x * y).sum(1)", lambda x, y: x @ y[0]),
        ("torch.randn(16, 32), torch.randn(16, 1).expand(16, 32)", "x * y", lambda x, y: x * y[:, :1]),
    ],
)
def test_what_stands_there_twice_may_be_read_once(
    prepared: Callable[..., Setting], inputs: str, result: str, kernel: Callable[..., torch.Tensor]
) -> None:
    setting = prepared(one_line("x, y", inputs, result))
    rng, problem = random.Random(5), setting.reference.problem
    cases = [setting.case(setting.recombined(rng), "spliced", 0), scaled(setting, rng)]
    for case in [*cases, *(probe.case for probe in probes(setting, rng))]:
        assert case is not None
        assert compare([kernel(*case.values)], case, problem).passed, case.label
    assert not torch.equal(cases[0].values[0], setting.bases[0].values[0])


def test_an_input_is_the_bound_of_another() -> None:
    def make() -> list[object]:
        start = torch.rand(300) * 100
        return [torch.randn(300), start + torch.rand(300), 3, start]

    found = regularities(_drawn(make))
    assert {*found} == {1, 3}
    assert (found[1].above, found[3].below) == (3, 1)
    assert not found[1].by_element
    assert not found[3].by_element
    values = [torch.randn(300), torch.randn(300), 3, torch.randn(300)]
    start, end = (kept(values, found)[number] for number in (3, 1))
    assert bool((start <= end).all())
    assert torch.equal((start + end), values[1] + values[3])


def test_marks_are_no_bounds_of_numbers() -> None:
    def make() -> list[object]:
        flags = (torch.rand(300) < 0.5).float()
        return [flags, flags + torch.rand(300)]

    draws = _drawn(make)
    assert regularities(draws)[1].above == 0
    assert regularities(draws, {0}) == {}


def test_orthogonal_matrices_stay(prepared: Callable[..., Setting]) -> None:
    source = one_line(
        "r, x", "torch.linalg.qr(torch.randn(40, 3, 3)).Q, torch.randn(40, 3)", "torch.linalg.inv(r) @ x.mT"
    )
    setting = prepared(source)
    assert setting.held == {0}
    for seed in range(4):
        case = scaled(setting, random.Random(seed))
        assert case is not None
        for values in (case.values, setting.recombined(random.Random(seed))):
            assert any(torch.equal(values[0], base.values[0]) for base in setting.bases)
    assert any("orthogonal" in note for note in setting.reference.notes)


def test_what_is_the_same_may_differ_in_last_digits_where_these_are_asked_about() -> None:
    draws = [[x := torch.randn(64, 8), x.clone(), torch.randn(1, 8).expand(64, 8).contiguous()] for _ in range(3)]
    known = regularities(draws)
    assert known[1].twin == 0
    assert known[2].repeated == (0,)
    moved = [value * (1 + 1e-6 * torch.randn(64, 8)) for value in draws[0]]
    first, twin, repeated = kept(moved, known)
    assert torch.equal(first, twin)
    assert torch.equal(repeated, repeated[:1].expand(64, 8))
    assert all(map(torch.equal, kept(moved, known, apart=True), moved))
