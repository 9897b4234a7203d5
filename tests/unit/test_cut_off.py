"""Where TF32 is allowed operands may be cut off to it, as tensor cores do, and no further."""

import random
from collections.abc import Callable, Sequence

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.problem import Rules  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOFTMAX = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(256, 300)

    def forward(self, x):
        return torch.softmax(self.linear(x) * 40, -1)


def get_inputs():
    return [torch.randn(200, 256)]
"""


def _cut(value: torch.Tensor) -> torch.Tensor:
    return (value.view(torch.int32) & -0x2000).view(torch.float32)


def _rounded(value: torch.Tensor) -> torch.Tensor:
    return _cut((value.view(torch.int32) + 0x1000).view(torch.float32))


def _narrow(value: torch.Tensor) -> torch.Tensor:
    return value.bfloat16().float()


@pytest.mark.parametrize(
    ("precision", "short", "passes"),
    [
        ("tf32", _cut, True),
        ("tf32", _narrow, False),
        ("strict_float32", _cut, False),
    ],
)
def test_operands_may_be_cut_off_to_tf32_where_that_is_allowed(
    prepared: Callable[..., Setting],
    precision: str,
    short: Callable[[torch.Tensor], torch.Tensor],
    passes: bool,
) -> None:
    setting = prepared(SOFTMAX, rules=Rules(precision=precision))
    linear = setting.model.linear
    for base in setting.bases:
        (x,) = base.values
        got = torch.softmax((short(x) @ short(linear.weight.detach()).T + linear.bias.detach()) * 40, -1)
        assert compare([got], base, setting.reference.problem).passed is passes


def test_what_is_no_further_off_but_not_cut_off_is_wrong(prepared: Callable[..., Setting]) -> None:
    source = """\
import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return (a * a).sum(1, keepdim=True) + (b * b).sum(1) - 2 * (a @ b.T)


def get_inputs():
    return [torch.randn(256, 64) + 3, torch.randn(256, 64) + 3]
"""
    setting = prepared(source, rules=Rules(precision="tf32"))
    for base in setting.bases:
        a, b = base.values
        for short, passes in ((_cut, True), (_narrow, False)):
            got = (a * a).sum(1, keepdim=True) + (b * b).sum(1) - 2 * (short(a) @ short(b).T)
            assert compare([got], base, setting.reference.problem).passed is passes


def test_attention_of_rounded_operands_is_right_where_an_exponential_magnifies_that(
    prepared: Callable[..., Setting],
) -> None:
    source = """\
import torch


class Model(torch.nn.Module):
    def forward(self, q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def get_inputs():
    return [torch.rand(1, 2, 128, 1024) for _ in range(3)]
"""
    setting = prepared(source, rules=Rules(precision="tf32"))

    def attention(short: Callable[[torch.Tensor], torch.Tensor], values: Sequence[torch.Tensor]) -> torch.Tensor:
        q, k, v = map(short, values)
        return short(torch.softmax(q @ k.mT * q.shape[-1] ** -0.5, -1)) @ v

    refused = set[str]()
    for seed in range(2):
        for probe in probes(setting, random.Random(seed)):
            for short in (_rounded, _cut):
                assert probe.compare([attention(short, probe.case.values)]).passed, probe.case.label
            if not probe.compare([attention(_narrow, probe.case.values)]).passed:
                refused.add(probe.case.label)
    assert refused
