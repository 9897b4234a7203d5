"""Which code of PyTorch's fills memory is learnt, and is not what computes."""

from collections import Counter
from collections.abc import Iterator

import pytest

pytest.importorskip("torch")

from kernwright.core.plan import QUICK
from kernwright.evaluation.participants.workshop import Workshop
from kernwright.evaluation.timing.filling import _functions, _only_filling, filling
from kernwright.platforms.cpu import Cpu

TRIED = """\
import time

import torch

x, y = torch.rand(2, 1 << 20)
ids = torch.randint(8, (1 << 20,))
end = time.process_time() + 0.25
while time.process_time() < end:
    {call}
"""
FILLS = ("torch.zeros(1 << 20)", "torch.full_like(ids, 3)", "x.zero_()", "x.view(1024, 1024)[:, ::2].fill_(0.5)")
COMPUTES = (
    "x.clone()",
    "x[:1].expand(1 << 20).contiguous()",
    "x + y",
    "x * 0",
    "x.masked_fill(y > 0.5, 0)",
    "torch.where(y > 0.5, x, 0)",
    "x.clamp_(0, 0)",
    "torch.cat([x, y])",
    "torch.arange(1 << 20)",
    "x.cumsum(0)",
    "torch.softmax(x, 0)",
    "x.repeat_interleave(2)",
    "x.bernoulli_(1.0)",
)


@pytest.fixture(scope="module")
def shop() -> Iterator[Workshop]:
    platform = Cpu()
    workshop = Workshop(platform, platform.targets()[0])
    yield workshop
    workshop.close()


def _share(shop: Workshop, call: str) -> float:
    """Of the looks into PyTorch's functions, those where it fills."""
    seen = _functions(shop, QUICK, TRIED.format(call=call))
    filled = sum(count for function, count in seen.items() if function in filling(shop, QUICK))
    return filled / max(1, seen.total())


@pytest.mark.parametrize("call", FILLS)
def test_filling_is_known_however_it_is_asked_for(shop: Workshop, call: str) -> None:
    assert _share(shop, call) > 0.5


@pytest.mark.parametrize("call", COMPUTES)
def test_what_computes_is_not_taken_for_it(shop: Workshop, call: str) -> None:
    assert _share(shop, call) < 0.05


def test_what_both_have_fills_nothing_and_neither_does_what_comes_before() -> None:
    assert _only_filling(Counter({1: 30, 2: 28, 3: 4, 4: 25}), Counter({4: 1, 5: 30})) == {1, 2}
    assert _only_filling(Counter({1: 2}), Counter()) == frozenset()
    assert _only_filling(Counter(), Counter()) == frozenset()
