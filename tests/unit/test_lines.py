"""Lines that are all 0, all one number, there twice, or those of another input: nobody may answer with no number."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.lines import EVERYWHERE, line_ways  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.shortage import where_possible  # noqa: E402

SOURCE = one_line("{names}", "{inputs}", backward="{backward}")
Made = Callable[..., Setting]
Kernel = Callable[..., object]
X, XY = "torch.randn(96, 64)", "torch.randn(96, 64), torch.randn(80, 64)"
SEEDS = range(6)


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Made:
    def make(result: str, inputs: str = X, names: str = "x", *, backward: bool = False) -> Setting:
        source = SOURCE.format(result=result, inputs=inputs, names=names, backward=backward)
        return prepared(source, backward=backward)

    return make


def refused(setting: Setting, kernel: Kernel) -> list[str]:
    """What is wrong with it, over some seeds."""
    found = []
    for seed in SEEDS:
        for way in line_ways(setting, setting.bases[0], random.Random(seed)):
            probe = where_possible(setting.reference, way)
            if probe is None:
                continue
            got = kernel(*probe.case.values)
            verdict = probe.compare(list(got) if isinstance(got, tuple) else [got])
            found += [] if verdict.passed else [verdict.detail]
    return found


def distances(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x * x).sum(-1, keepdim=True) + (y * y).sum(-1) - 2 * x @ y.T


CDIST = "torch.cdist(x, y, compute_mode='donot_use_mm_for_euclid_dist')"
NORMED = "torch.nn.functional.normalize(x, dim=-1)"
STANDARD = "(x - x.mean(-1, keepdim=True)) / (x - x.mean(-1, keepdim=True)).square().mean(-1, keepdim=True).sqrt().clamp(min=1e-8)"  # noqa: E501
MEAN_OF_SOME = "x.sum(-1) / (x != 0).sum(-1).clamp(min=1)"
TOP = "torch.full_like(x, -torch.inf).scatter_(-1, x.topk(9).indices, x.topk(9).values)"
QUANTISED = "torch.round(x / (x.abs().amax(-1, keepdim=True).clamp(min=1e-8) / 127)), x.abs().amax(-1)"


def standard(x: torch.Tensor) -> torch.Tensor:
    c = x - x.mean(-1, keepdim=True)
    return c * c.square().mean(-1, keepdim=True).rsqrt()


def quantised(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    most = x.abs().amax(-1, keepdim=True)
    return torch.round(x / (most / 127)), most[:, 0]


@pytest.mark.parametrize(
    ("result", "names", "inputs", "kernel"),
    [
        (CDIST, "x, y", XY, lambda x, y: distances(x, y).sqrt()),
        (NORMED, "x", X, lambda x: x * (x * x).sum(-1, keepdim=True).rsqrt()),
        (STANDARD, "x", "torch.rand(96, 64)", standard),
        (MEAN_OF_SOME, "x", "torch.relu(torch.randn(96, 64))", lambda x: x.sum(-1) / x.count_nonzero(-1)),
        (QUANTISED, "x", X, quantised),
        (TOP, "x", X, lambda x: x.masked_fill(x < x.topk(9).values[:, -1:], torch.nan)),
        ("torch.nn.functional.normalize(x, dim=0)", "x", X, lambda x: x * (x * x).sum(0).rsqrt()),
        (
            "torch.nn.functional.normalize(x, dim=1)",
            "x",
            "torch.randn(8, 16, 12)",
            lambda x: x / x.norm(dim=1)[:, None],
        ),
    ],
    ids=[
        "points that are one",
        "norms",
        "deviations",
        "mean of some",
        "quantised",
        "not chosen",
        "columns",
        "channels",
    ],
)
def test_no_number_where_the_reference_has_one_is_refused(
    setting_of: Made, result: str, names: str, inputs: str, kernel: Kernel
) -> None:
    assert any("nan" in detail for detail in refused(setting_of(result, inputs, names), kernel))


def one_pass(x: torch.Tensor) -> torch.Tensor:
    mean, square = x.mean(-1, keepdim=True), (x * x).mean(-1, keepdim=True)
    return (x - mean) * ((square - mean * mean).clamp(min=0) + 1e-5).rsqrt()


@pytest.mark.parametrize(
    ("result", "names", "inputs", "kernel"),
    [
        (CDIST, "x, y", XY, lambda x, y: distances(x, y).clamp(min=0).sqrt()),
        (CDIST, "x, y", XY, lambda x, y: distances(x, y).abs().sqrt()),
        ("(x[:, None] - y).square().sum(-1)", "x, y", XY, distances),
        ("torch.exp(-(x[:, None] - y).square().sum(-1))", "x, y", XY, lambda x, y: torch.exp(-distances(x, y))),
        ("torch.cdist(x, y).argmin(-1)", "x, y", XY, lambda x, y: distances(x, y).argmin(-1)),
        ("torch.cdist(x, x)", "x", X, lambda x: distances(x, x).clamp(min=0).sqrt()),
        (NORMED, "x", X, lambda x: x * (1 / x.norm(dim=-1, keepdim=True).clamp(min=1e-12))),
        (STANDARD, "x", "torch.rand(96, 70)", lambda x: _stable(x, 1 / 70)),
        (MEAN_OF_SOME, "x", "torch.relu(torch.randn(96, 64))", lambda x: x.sum(-1) / (x != 0).float().sum(-1).clamp(1)),
        ("torch.nn.functional.layer_norm(x, (64,))", "x", X, one_pass),
        ("torch.nn.functional.layer_norm(x * 50 + 3, (64,))", "x", X, lambda x: one_pass(x * 50 + 3)),
        ("torch.nn.functional.instance_norm(x[None])", "x", X, lambda x: one_pass(x)[None]),
        ("x.var(-1)", "x", X, lambda x: ((x * x).mean(-1) - x.mean(-1) ** 2) * 64 / 63),
        ("x.std(0)", "x", X, lambda x: (((x * x).mean(0) - x.mean(0) ** 2).clamp(min=0) * 96 / 95).sqrt()),
        ("torch.softmax(x @ y.T, -1)", "x, y", XY, lambda x, y: torch.exp(torch.log_softmax(x @ y.T, -1))),
        ("torch.log(x)", "x", "torch.rand(96, 64)", lambda x: torch.log2(x) * 0.6931471805599453),
        ("x / y", "x, y", "torch.randn(96, 64), torch.rand(96, 64)", lambda x, y: x * (1 / y)),
        ("torch.cosine_similarity(x, y)", "x, y", f"{X}, {X}", lambda x, y: _cosines(x, y)),
        ("torch.linalg.solve(x, y)", "x, y", "torch.randn(48, 48), torch.randn(48, 9)", torch.linalg.solve),
        ("torch.linalg.inv(x)", "x", "torch.randn(48, 48)", lambda x: torch.linalg.solve(x, torch.eye(48))),
        ("x.argmax(-1), x.sort(-1).values", "x", X, lambda x: (63 - x.flip(-1).argmax(-1), x.sort(-1).values)),
        ("torch.quantile(x, 0.3, dim=-1)", "x", X, lambda x: torch.quantile(x.sort(-1).values, 0.3, dim=-1)),
        ("torch.round(x.mean(-1) * 7)", "x", X, lambda x: torch.round(x.sum(-1) * 7 / 64)),
        ("torch.sign(x * 0.3 - y * 0.3)", "x, y", f"{X}, {X}", lambda x, y: _in_wide(x, y)),
        (TOP, "x", X, lambda x: x.scatter(-1, _falling(x)[:, 9:], -torch.inf)),
    ],
)
def test_honest_ways_are_not_refused(setting_of: Made, result: str, names: str, inputs: str, kernel: Kernel) -> None:
    assert refused(setting_of(result, inputs, names), kernel) == []


def _falling(x: torch.Tensor) -> torch.Tensor:
    return torch.sort(x, dim=-1, descending=True, stable=True).indices


def _stable(x: torch.Tensor, share: float) -> torch.Tensor:
    c = x - (x.sum(-1, keepdim=True) * share)
    return c / (c.square().sum(-1, keepdim=True) * share).sqrt().clamp(min=1e-8)


def _cosines(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x * y).sum(-1) / ((x * x).sum(-1).clamp(min=1e-16) * (y * y).sum(-1).clamp(min=1e-16)).sqrt()


def _in_wide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.sign(x.double() * 0.3 - (y * 0.3).double()).float()


def test_gradients_have_to_be_numbers_where_the_reference_has_them(setting_of: Made) -> None:
    setting = setting_of(NORMED, backward=True)

    def both(floor: float) -> Kernel:
        def kernel(x: torch.Tensor, direction: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            r = 1 / x.norm(dim=-1, keepdim=True).clamp(min=floor)
            y = x * r
            return y, (direction - y * (y * direction).sum(-1, keepdim=True)) * r

        return kernel

    assert refused(setting, both(0.0))
    assert refused(setting, both(1e-12)) == []


MASKED = """\
import torch


class Model(torch.nn.Module):
    def forward(self, q, bias):
        return torch.softmax(q @ q.transpose(-1, -2) / 8 + bias, -1) @ q


def get_inputs():
    gone = {gone}
    return [torch.randn(4, 64, 32), torch.zeros(4, 64, 64).masked_fill(gone, float("-inf"))]
"""
LENGTHS = "torch.arange(64) >= torch.randint(1, 64, (4, 1, 1))"


def by_tiles(q: torch.Tensor, bias: torch.Tensor, least: float) -> torch.Tensor:
    most = torch.full((4, 64, 1), least)
    total, result = torch.zeros_like(most), torch.zeros_like(q)
    for start in range(0, 64, 16):
        keys = q[:, start : start + 16]
        scores = q @ keys.transpose(-1, -2) / 8 + bias[..., start : start + 16]
        now = torch.maximum(most, scores.amax(-1, keepdim=True))
        shares, shrunk = torch.exp(scores - now), torch.exp(most - now)
        total, result, most = total * shrunk + shares.sum(-1, keepdim=True), result * shrunk + shares @ keys, now
    return result / total


def test_a_mask_of_chance_has_lines_whose_first_half_is_gone(prepared: Callable[[str], Setting]) -> None:
    chance = prepared(MASKED.format(gone="torch.rand(4, 64, 64) < 0.4"))
    assert any("nan" in detail for detail in refused(chance, lambda q, b: by_tiles(q, b, -torch.inf)))
    assert refused(chance, lambda q, b: by_tiles(q, b, -1e30)) == []
    lengths = prepared(MASKED.format(gone=LENGTHS))
    assert refused(lengths, lambda q, b: by_tiles(q, b, -torch.inf)) == []


PHASE = "torch.cos(torch.atan2(y, x))"


@pytest.mark.parametrize("shape", ["96, 64", "5, 64", "8, 16, 12"])
def test_lines_of_zeros_meet_in_inputs_of_one_shape(setting_of: Made, shape: str) -> None:
    setting = setting_of(PHASE, f"torch.randn({shape}), torch.randn({shape})", "x, y")
    for seed in SEEDS:
        for way in line_ways(setting, setting.bases[0], random.Random(seed)):
            probe = way()
            assert probe is not None
            if probe.case.label == EVERYWHERE:
                continue
            x, y = probe.case.values
            assert not probe.compare([x * torch.rsqrt(x * x + y * y)]).passed
            assert probe.compare([torch.where((x == 0) & (y == 0), 1.0, x / torch.hypot(x, y))]).passed


SPREAD = "(x - x.min()) / (x.max() - x.min() + 1e-8)"


def test_all_may_be_one_number(setting_of: Made) -> None:
    def spread(x: torch.Tensor) -> torch.Tensor:
        return (x - x.min()) / (x.max() - x.min())

    assert any("nan" in detail for detail in refused(setting_of(SPREAD), spread))
    assert refused(setting_of(SPREAD), lambda x: (x - x.min()) * (1 / (x.max() - x.min() + 1e-8))) == []
    assert refused(setting_of(SPREAD.replace(" + 1e-8", "")), spread) == []
