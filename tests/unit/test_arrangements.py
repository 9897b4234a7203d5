"""Drawn numbers in other arrangements show who relies on how a generator arranges them, and nobody who does not."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.arrangements import ORDERS, arrangement_ways  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.shortage import where_possible  # noqa: E402

Kernel = Callable[..., torch.Tensor]


def refused(setting: Setting, kernel: Kernel, seeds: int = 6) -> set[str]:
    """Labels of what a kernel is wrong on, without numbers."""
    labels = set()
    for seed in range(seeds):
        for way in arrangement_ways(setting, setting.bases[0], random.Random(seed)):
            probe = where_possible(setting.reference, way)
            if probe is not None and not probe.compare([kernel(*probe.case.values)]).passed:
                labels.add("".join(letter for letter in probe.case.label if not letter.isdigit()))
    return labels


def longest(x: torch.Tensor, most: int) -> torch.Tensor:
    length, known = (x[:, 1:] > x[:, :-1]).long(), 1
    while known < most:
        before = torch.nn.functional.pad(length, (known, 0))[:, : length.shape[1]]
        length, known = torch.where(length == known, length + before, length), known * 2
    return length.amax(1)


LONGEST = (
    "(lambda r: (r.cumsum(1) - torch.where(r == 0, r.cumsum(1), 0).cummax(1).values).amax(1))"
    "((x[:, 1:] > x[:, :-1]).long())"
)
NEAREST = "torch.bincount((x[:, None] - y[None]).square().sum(-1).argmin(1), minlength=len(y))"
AREA = "((x[:, :, None] > y[:, None]).double() + (x[:, :, None] >= y[:, None]).double()).mean((1, 2)).float() / 2"
PAIR = "torch.randn(64, 48), torch.randn(64, 48)"


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("length", [8, 13, 1000])
def test_an_order_has_each_place_once(order: Callable[[int, int, random.Random], torch.Tensor], length: int) -> None:
    places = order(5, length, random.Random(1)).expand(5, length)
    assert places.sort(-1).values.tolist() == [list(range(length))] * 5


@pytest.mark.parametrize(
    ("names", "inputs", "result", "kernel", "label"),
    [
        ("x", "torch.randn(32, 512)", LONGEST, lambda x: longest(x, 64), "in order along axis  of input "),
        (
            "x",
            "torch.randn(256, 512)",
            "torch.where((x.diff() > 0).unfold(1, 3, 1).eq(torch.tensor([True, True, False])).all(-1).double()"
            ".mean(1, keepdim=True) > 0.28, 0.0, x.tanh())",
            torch.tanh,
            "in order along axis  of input ",
        ),
        (
            "x",
            "torch.randn(4096, 16)",
            "torch.bincount(x.argmax(1), minlength=16)",
            lambda x: torch.bincount(x.argmax(1), minlength=16).clamp(max=1000),
            "one line most of the time along axis  of input ",
        ),
        (
            "x",
            "torch.randn(64, 4, 4) + 4 * torch.eye(4)",
            "torch.linalg.inv(x)",
            lambda x: torch.linalg.inv(x) * (x[:, :1, :1] / x[:, :1, :1]),
            "zeros in input , all at one place",
        ),
        (
            "x, y",
            "torch.randn(8192), torch.randn(8192)",
            "torch.bincount(x.argsort().argsort() // 512 * 16 + y.argsort().argsort() // 512, minlength=256)",
            lambda x, y: torch.bincount(
                x.argsort().argsort() // 512 * 16 + y.argsort().argsort() // 512, minlength=256
            ).clamp(max=255),
            "input  as input  is",
        ),
        (
            "x, y",
            "torch.rand(8, 64, 3), torch.rand(8, 64)",
            "((x[:, 1:, 0] > x[:, :-1, 0]) & (y[:, 1:] > y[:, :-1])).sum(1)",
            lambda x, y: ((x[:, 1:, 0] > x[:, :-1, 0]) & (y[:, 1:] > y[:, :-1])).sum(1).clamp(max=50),
            "in order along axis  of inputs , ",
        ),
        ("x, y", PAIR, AREA, lambda x, y: (x[:, :, None] > y[:, None]).double().mean((1, 2)).float(), "on one grid"),
    ],
)
def test_who_relies_on_the_arrangement_is_refused(
    prepared: Callable[..., Setting], names: str, inputs: str, result: str, kernel: Kernel, label: str
) -> None:
    assert label in refused(prepared(one_line(names, inputs, result)), kernel)


@pytest.mark.parametrize(
    ("names", "inputs", "result", "kernel"),
    [
        ("x", "torch.randn(32, 512)", LONGEST, lambda x: longest(x, 512)),
        ("x", "torch.randn(64, 256)", "x.softmax(-1)", lambda x: (x - x.logsumexp(-1, keepdim=True)).exp()),
        ("x", "torch.randn(64, 256)", "x.var(-1)", lambda x: (x - x.mean(-1, keepdim=True)).square().sum(-1) / 255),
        ("x", "torch.randn(64, 256)", "x.cumsum(-1)", lambda x: x.double().cumsum(-1).float()),
        ("x", "torch.randn(64, 256)", "x.argsort(-1)", lambda x: 255 - x.flip(-1).argsort(-1)),
        ("x", "torch.randn(64, 256)", "x.argmax(-1)", lambda x: 255 - x.flip(-1).argmax(-1)),
        ("x", "torch.randn(64, 256)", "x.median(-1)[0]", lambda x: x.sort(-1).values[:, 127]),
        (
            "x, y",
            "torch.randn(2048, 16), torch.randn(32, 16)",
            NEAREST,
            lambda x, y: torch.bincount((y.square().sum(1) - 2 * x @ y.T).argmin(1), minlength=32),
        ),
        ("x, y", PAIR, AREA, lambda x, y: ((x[:, :, None] - y[:, None]).sign().double().mean((1, 2)).float() + 1) / 2),
        (
            "x",
            "torch.randn(4096, 16)",
            "torch.bincount(x.argmax(1), minlength=16)",
            lambda x: torch.bincount(15 - x.flip(-1).argmax(-1), minlength=16),
        ),
        ("x, y", PAIR, "x @ y.T", lambda x, y: (x.double() @ y.T.double()).float()),
        (
            "x, y",
            PAIR,
            "torch.cosine_similarity(x, y)",
            lambda x, y: (x * y).sum(1) / (x.square().sum(1).sqrt() * y.square().sum(1).sqrt()).clamp(min=1e-8),
        ),
        (
            "x",
            "torch.randn(64, 4, 4) + 4 * torch.eye(4)",
            "torch.linalg.inv(x)",
            lambda x: torch.linalg.inv(x.double()).float(),
        ),
    ],
)
def test_who_does_not_is_right(
    prepared: Callable[..., Setting], names: str, inputs: str, result: str, kernel: Kernel
) -> None:
    assert refused(prepared(one_line(names, inputs, result)), kernel) == set()


def test_a_gradient_at_0_is_a_choice(prepared: Callable[..., Setting]) -> None:
    setting = prepared(one_line("x", "torch.randn(64, 32)", "x.relu() * 3"), backward=True)
    ways = arrangement_ways(setting, setting.bases[0], random.Random(1))
    made = [where_possible(setting.reference, way) for way in ways]
    assert not any(bool((probe.case.values[0] == 0).any()) for probe in made if probe is not None)


def test_a_single_number_has_no_arrangement(prepared: Callable[..., Setting]) -> None:
    setting = prepared(one_line("x, y", "torch.randn(1), torch.randint(0, 9, (64,))", "x * y"))
    assert arrangement_ways(setting, setting.bases[0], random.Random(1)) == []
