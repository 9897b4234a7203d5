"""Which parameters and buffers results have to follow, and what other values they get."""

import random
from collections.abc import Callable
from itertools import combinations
from types import SimpleNamespace
from typing import cast

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from kernwright.evaluation.checks.outputs import _varied  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.runner.structure import flagged, flags, put  # noqa: E402
from kernwright.evaluation.weights.changes import Weight, followed  # noqa: E402
from kernwright.evaluation.weights.otherwise import CHANGES  # noqa: E402
from kernwright.evaluation.weights.reweighing import LONG_S, renew  # noqa: E402
from kernwright.evaluation.weights.state import vary  # noqa: E402


def _found(build: Callable[[nn.Module], None]) -> dict[str, Weight]:
    models = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        model = nn.Module()
        build(model)
        models.append(model)
    return followed(models[0], models[1])


def _buffers(model: nn.Module) -> None:
    model.linear = nn.Linear(5, 6)
    model.register_buffer("drawn", torch.randn(40, 40))
    model.register_buffer("triangle", torch.randn(40, 40).tril())
    model.register_buffer("codes", torch.randint(-127, 128, (64, 64), dtype=torch.int8))
    model.register_buffer("turns", torch.randn(8, 8, dtype=torch.complex64))
    model.register_buffer("mean", torch.zeros(40))
    model.register_buffer("table", torch.linspace(0, 1, 40))
    model.register_buffer("mask", torch.ones(40, 40).tril())
    model.register_buffer("steps", torch.tensor(0))
    model.register_buffer("offsets", torch.randint(0, 99, (30,)).sort().values)


def test_what_no_seed_decides_belongs_to_the_problem() -> None:
    found = _found(_buffers)
    assert {*found} == {"linear.weight", "linear.bias", "drawn", "triangle", "codes", "turns", "mean", "offsets"}
    assert {name for name, weight in found.items() if weight.parameter} == {"linear.weight", "linear.bias"}


def _segments(model: nn.Module) -> None:
    model.register_buffer("segments", torch.randint(0, 9, (400,)).sort().values)
    model.register_buffer("counts", torch.bincount(model.segments, minlength=9))
    model.register_buffer("flags", torch.rand(400) < 0.5)


def test_integers_that_may_hang_together_change_all_at_once_to_those_of_another_seed() -> None:
    found = _found(_segments)
    assert [name for name, weight in found.items() if weight.together] == ["segments", "counts", "flags"]
    segments, rng = torch.randint(0, 9, (400,)), random.Random(1)
    assert found["segments"].changed(segments, rng, one=True) is segments
    for anew in (None, *CHANGES):
        others = [found[name].exchanged(segments, rng, anew=anew) for name in ("segments", "counts")]
        assert torch.equal(torch.bincount(others[0], minlength=9), others[1])


def test_codes_and_flags_that_are_one_number_everywhere_are_none_of_these() -> None:
    def blank(model: nn.Module) -> None:
        model.register_buffer("mask", torch.ones(64, dtype=torch.bool))
        model.register_buffer("zeros", torch.zeros(64, dtype=torch.int8))
        model.register_buffer("codes", torch.randint(0, 1 << 30, (64, 64)))

    found = _found(blank)
    assert {*found} == {"mask", "zeros", "codes"}
    assert not any(weight.together for weight in found.values())


def _sparse(model: nn.Module) -> None:
    _segments(model)
    model.register_buffer("edges", torch.eye(9).to_sparse())


def _padded(model: nn.Module) -> None:
    _segments(model)
    model.longest = int(model.counts.max())


def _ragged(model: nn.Module) -> None:
    _segments(model)
    model.register_buffer("places", torch.arange(int(model.counts.max())))


def _listed(model: nn.Module) -> None:
    _segments(model)
    model.rows = [(model.segments == n).nonzero() for n in range(9)]


def _flipped(model: nn.Module) -> None:
    model.register_buffer("counts", torch.randint(0, 99, (400,)))
    model.first = int(model.counts[0])


@pytest.mark.parametrize("build", [_padded, _ragged, _listed, _flipped, _sparse])
def test_those_of_a_module_that_is_another_one_in_more_than_tensors_stay(build: Callable[[nn.Module], None]) -> None:
    assert not {"segments", "counts"} & {*_found(build)}


def test_parameters_alone_where_there_is_no_second_module() -> None:
    assert {*followed(nn.Linear(3, 4), None)} == {"weight", "bias"}


def test_a_function_has_no_weights() -> None:
    assert followed(torch.sin, None) == {}


@pytest.mark.parametrize("one", [False, True])
def test_buffers_change_and_keep_what_they_have_in_common(one: bool) -> None:
    found, rng = _found(_buffers), random.Random(4)
    positive, triangle = torch.rand(40, 40) + 0.1, torch.randn(40, 40).tril()
    changed = found["drawn"].changed(positive, rng, one=one)
    assert float(changed.min()) > 0
    assert int((changed != positive).sum()) == (1 if one else 25)
    changed = found["triangle"].changed(triangle, rng, one=one)
    assert not torch.equal(changed, triangle)
    assert torch.equal(changed, changed.tril())
    codes = torch.randint(-127, 128, (64, 64), dtype=torch.int8)
    changed = found["codes"].changed(codes, rng, one=one)
    assert torch.equal(changed.flatten().sort().values, codes.flatten().sort().values)
    assert int((changed != codes).sum()) == 2 if one else float((changed != codes).float().mean()) > 0.9
    turns = torch.randn(8, 8, dtype=torch.complex64)
    assert int((found["turns"].changed(turns, rng, one=one) != turns).sum()) in (1, 2)


@pytest.mark.parametrize(("usual", "least"), [(0.0, 0.9), (1e-6, 0.9), (1e-3, 1e-3)])
def test_a_parameter_that_is_next_to_nothing_becomes_about_one(usual: float, least: float) -> None:
    changed = Weight(parameter=True).changed(torch.full((256,), usual), random.Random(1), one=False)
    moved = changed[changed != usual]
    assert len(moved) == 4
    assert bool((moved >= least).all())


def test_equal_weights_are_moved_apart_in_proportion() -> None:
    generator = torch.Generator().manual_seed(0)
    for value, least, most in ((0.02, 0.016, 0.024), (1.0, 0.8, 1.2), (0.0, -0.2, 0.2), (-3.0, -3.6, -2.4)):
        tensor = torch.full((500,), value)
        vary(tensor, generator)
        assert least <= float(tensor.min()) < float(tensor.max()) <= most
        assert float(tensor.std()) > 0.3 * abs(most - least) / 2


@pytest.mark.parametrize("values", [[], [True], [False] * 9 + [True], [True] * 40, [False, True] * 500])
def test_flags_say_which(values: list[bool]) -> None:
    names = [str(number) for number in range(len(values))]
    assert flagged(flags(values), names) == [name for name, value in zip(names, values, strict=True) if value]


@pytest.mark.parametrize("said", [None, [], "no", "", "fffff", 3.5, {}])
def test_what_makes_no_sense_says_that_nothing_is_there(said: object) -> None:
    assert flagged(said, ["a", "b"]) == ["a", "b"]


EIGHT_BITS = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e8m0fnu]


@pytest.mark.parametrize("dtype", EIGHT_BITS)
@pytest.mark.parametrize("one", [False, True])
def test_floats_of_eight_bits_change_and_stay_in_range(dtype: torch.dtype, one: bool) -> None:
    def build(model: nn.Module) -> None:
        model.register_buffer("codes", torch.randn(40, 40).to(dtype))
        model.register_buffer("table", torch.linspace(1, 2, 40).to(dtype))
        model.register_buffer("scale", torch.ones(40).to(dtype))
        model.weight = nn.Parameter(torch.randn(40, 40).to(dtype), requires_grad=False)

    found = _found(build)
    assert {*found} == {"codes", "scale", "weight"}
    large = (torch.rand(40, 40) * 2 - 1) * torch.finfo(dtype).max
    for value in (large.to(dtype), torch.randn(40, 40).to(dtype), torch.ones(40, 40).to(dtype)):
        for name in ("codes", "weight"):
            changed = found[name].changed(value, random.Random(4), one=one)
            assert changed.dtype == dtype
            assert torch.isfinite(changed.float()).all()
            assert torch.equal(changed.float().sign(), value.float().sign())
            assert int((changed != value).sum()) == (1 if one else 25)


def test_equal_floats_of_eight_bits_are_moved_apart() -> None:
    tensor = torch.ones(500).to(torch.float8_e4m3fn)
    vary(tensor, torch.Generator().manual_seed(0))
    assert 0.8 <= float(tensor.float().min()) < float(tensor.float().max()) <= 1.25


def test_numbers_of_four_bits_are_codes() -> None:
    def build(model: nn.Module) -> None:
        codes = torch.randint(0, 256, (64, 64), dtype=torch.uint8)
        model.register_buffer("codes", codes.view(torch.float4_e2m1fn_x2))

    value = torch.randint(0, 256, (64, 64), dtype=torch.uint8)
    changed = _found(build)["codes"].changed(value.view(torch.float4_e2m1fn_x2), random.Random(4), one=False)
    assert float((changed.view(torch.uint8) != value).float().mean()) > 0.9


def test_what_was_expanded_stays_one_number_along_an_axis() -> None:
    def build(model: nn.Module) -> None:
        model.register_buffer("one", torch.ones(1).expand(64))
        model.register_buffer("rows", torch.randn(8, 1).expand(8, 64))
        model.register_buffer("windows", torch.randn(71).as_strided((64, 8), (1, 1)))

    assert {*_found(build)} == {"one", "rows"}
    one = torch.ones(1).expand(64)
    vary(one, torch.Generator().manual_seed(0))
    assert one[0] != 1.0
    assert bool((one == one[0]).all())
    rows = torch.zeros(8, 1).expand(8, 64)
    put(rows, torch.arange(8.0)[:, None].expand(8, 64).contiguous())
    assert torch.equal(rows[:, 63], torch.arange(8.0))
    whole = torch.zeros(3, 4)
    put(whole, torch.arange(12.0).view(3, 4))
    assert torch.equal(whole.flatten(), torch.arange(12.0))


def _all_kinds(model: nn.Module) -> None:
    _buffers(model)
    model.register_buffer("basis", torch.linalg.qr(torch.randn(16, 16))[0])
    model.register_buffer("scales", torch.exp2(torch.randint(-3, 3, (64,)).float()))
    model.register_buffer("flags", torch.zeros(64, dtype=torch.bool))
    model.register_buffer("short", torch.randn(64, 64).to(torch.float8_e4m3fn))
    model.knots = nn.Parameter(torch.rand(40).sort().values)
    model.gain = nn.Parameter(torch.ones(40))


def test_whoever_keeps_several_states_of_weights_has_kept_none_that_comes() -> None:
    """Every number of floats is another one, whatever states came before."""
    found, rng = _found(_all_kinds), random.Random(5)
    torch.manual_seed(1)
    model = nn.Module()
    _all_kinds(model)
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    for tensor in state.values():
        vary(tensor.data, torch.Generator().manual_seed(0))
    for name, weight in found.items():
        usual = state[name].detach()
        states = [weight.exchanged(usual, rng, anew=change) for change in 2 * CHANGES]
        assert all(each.shape == usual.shape and each.dtype == usual.dtype for each in states)
        if weight.together:  # these are renewed
            continue
        as_bytes = [each.contiguous().flatten().view(torch.uint8) for each in (usual, *states)]
        assert not any(torch.equal(one, other) for one, other in combinations(as_bytes, 2)), name
    turned = found["basis"].exchanged(state["basis"], rng, anew=CHANGES[0])
    assert torch.allclose(turned @ turned.T, torch.eye(16), atol=1e-5)
    knots = found["knots"].exchanged(state["knots"].detach(), rng, anew=CHANGES[0])
    assert bool((knots.diff() >= 0).all())
    for name in ("triangle", "linear.weight", "mean"):
        assert torch.equal(found[name].exchanged(state[name].detach(), rng, anew=None), found[name].other)


TOGETHER = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("order", torch.randperm(64))
        self.register_buffer("back", self.order.argsort())

    def forward(self, x):
        return x[:, self.order].cumsum(1)[:, self.back]


def get_inputs():
    return [torch.randn(4, 64)]
"""


def test_such_integers_are_of_a_new_seed_each_time_that_they_are_renewed(prepared: Callable[..., Setting]) -> None:
    setting, rng, seen = prepared(TOGETHER), random.Random(1), set()
    for _ in range(3):
        renew(setting, rng)
        order, back = (setting.followed[name].other for name in ("order", "back"))
        assert order is not None
        assert torch.equal(order.argsort(), back)
        seen.add(tuple(order.tolist()))
    assert len(seen) == 3


def test_flags_and_numbers_beside_such_integers_are_of_the_same_seed(prepared: Callable[..., Setting]) -> None:
    beside = TOGETHER.replace(
        "        self.register_buffer(\"back\", self.order.argsort())\n",
        "        self.register_buffer(\"back\", self.order.argsort())\n"
        "        self.register_buffer(\"early\", self.order < 32)\n"
        "        self.register_buffer(\"sizes\", self.order / 64)\n",
    )  # fmt: skip
    setting = prepared(beside)
    assert renew(setting, random.Random(1))
    others = {name: setting.followed[name].other for name in ("order", "early", "sizes")}
    order, early, sizes = others.values()
    assert order is not None
    assert early is not None
    assert torch.equal(early, order < 32)
    assert sizes is not None
    assert torch.equal(sizes, order / 64)


def test_a_module_that_takes_long_to_make_is_made_once(prepared: Callable[..., Setting]) -> None:
    setting = prepared(TOGETHER)
    setting.built_s = 2 * LONG_S
    before = setting.followed["order"].other
    assert not renew(setting, random.Random(1))
    assert setting.followed["order"].other is before


def test_what_each_call_changes_is_no_weight(prepared: Callable[..., Setting]) -> None:
    counts = TOGETHER.replace(
        "        self.register_buffer(\"order\"", "        self.register_buffer(\"calls\", torch.tensor(0))\n"
        "        self.register_buffer(\"order\"",
    ).replace("        return x[", "        self.calls += 1\n        return x[")  # fmt: skip
    assert "calls += 1" in counts
    setting = prepared(counts)
    assert [name for name, weight in setting.followed.items() if weight.together] == ["order", "back"]
    assert "calls" not in setting.followed
    before = setting.followed["order"].other
    renew(setting, random.Random(1))
    assert setting.followed["order"].other is not before


def test_what_a_first_call_makes_of_such_integers_ties_them(prepared: Callable[..., Setting]) -> None:
    lazy = TOGETHER.replace('        self.register_buffer("back", self.order.argsort())', "        self.back = None")
    lazy = lazy.replace(
        "        return x[",
        "        self.back = self.order.argsort() if self.back is None else self.back\n        return x[",
    )
    assert not {"order", "back"} & {*prepared(lazy).followed}


@pytest.mark.parametrize(
    "start",
    [torch.eye(24), 2.5 * torch.eye(24) - torch.diag(torch.ones(23), 1) - torch.diag(torch.ones(23), -1)],
    ids=["identity", "difference"],
)
def test_a_trained_matrix_that_starts_as_the_identity_becomes_any_definite_one(start: torch.Tensor) -> None:
    for parameter, rng in ((True, random.Random(3)), (False, random.Random(3))):
        weight = Weight(parameter=parameter, definite=True)
        for change in CHANGES:
            other = weight.exchanged(start, rng, anew=change)
            assert bool((other != 0).all()) is parameter, "a buffer's zeros are the problem's"
            torch.testing.assert_close(other, other.T)
            assert torch.linalg.eigvalsh(other).min() > 0
            assert torch.linalg.eigvalsh(other).max() < 2 * torch.linalg.eigvalsh(start).max()


def test_what_was_wrong_says_which_buffer_holds_other_numbers_than_it_is_made_with() -> None:
    followed = {"bias": Weight(parameter=True), "kernel": Weight(parameter=False, level=True)}
    said = _varied(cast(Setting, SimpleNamespace(varied=True, followed=followed)))
    assert said == "; 'kernel', one number everywhere as it is made, holds others here"
    assert not _varied(cast(Setting, SimpleNamespace(varied=False, followed=followed)))
    assert not _varied(cast(Setting, SimpleNamespace(varied=True, followed={"bias": followed["bias"]})))
