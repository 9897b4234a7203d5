"""Results that lie in the same memory, where the reference's lie apart, are one result for several."""

import random
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.participants.opening import ONE_FOR_SEVERAL, mismatch, opening  # noqa: E402
from kernwright.evaluation.participants.reading import shared  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.runner.opened import Opened  # noqa: E402
from kernwright.evaluation.runner.structure import describe, lies_at, sharing  # noqa: E402

WHOLE = torch.zeros(12, 16)
OTHER = torch.zeros(12, 16)


@pytest.mark.parametrize(
    ("tensors", "found"),
    [
        ([WHOLE, OTHER], None),
        ([WHOLE, WHOLE], (0, 1)),
        ([OTHER, WHOLE, WHOLE.T], (1, 2)),
        ([*WHOLE.chunk(4, -1)], None),
        ([*WHOLE.chunk(4, 0)], None),
        ([WHOLE[:, ::2], WHOLE[:, 1::2]], None),
        ([WHOLE[:, :9], WHOLE[:, 8:]], (0, 1)),
        ([WHOLE[:-1], WHOLE[1:]], (0, 1)),
        ([WHOLE[:, 3:5], WHOLE[2:, 5:7], WHOLE.flatten()[37:40]], (1, 2)),
        ([WHOLE[:, 3:5], WHOLE.flatten()[21:24]], None),
        ([WHOLE.view(torch.uint8)[:, :5], WHOLE[:, 1:]], (0, 1)),
        ([WHOLE.view(torch.uint8)[:, :4], WHOLE[:, 1:]], None),
        ([WHOLE[:0], WHOLE], None),
        ([torch.view_as_complex(WHOLE.view(12, 8, 2)).real, torch.view_as_complex(WHOLE.view(12, 8, 2)).imag], None),
    ],
)
def test_what_lies_in_the_same_memory(tensors: list[torch.Tensor], found: tuple[int, int] | None) -> None:
    apart: list[list[int]] = [[] for _ in tensors]
    assert sharing([lies_at(t) for t in tensors], apart) == found


def test_any_views_agree_with_a_look_at_every_byte() -> None:
    rng, memory = random.Random(3), torch.arange(400)
    for _ in range(500):
        views = []
        for _ in range(2):
            shape = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
            order, step, strides = rng.sample(range(len(shape)), len(shape)), rng.randint(1, 3), [0] * len(shape)
            for axis in order:
                strides[axis], step = step, step * shape[axis] + rng.randint(0, 2)
            views.append(torch.as_strided(memory, shape, strides, rng.randint(0, 40)))
        meets = bool(torch.isin(views[0].flatten(), views[1].flatten()).any())
        assert (sharing([lies_at(v) for v in views], [[], []]) is not None) == meets


SOURCE = """\
import torch

BACKWARD = {backward}


class Model(torch.nn.Module):
    def forward(self, x):
        y = x + 1
        return {result}


def get_inputs():
    return [torch.randn(8, 128)]
"""


def _opened(setting: Setting) -> Opened:
    inputs, outputs = (torch.zeros(size, dtype=torch.uint8) for size in setting.sizes[1:])
    return Opened(inputs, outputs, opening(setting, "kernel", compiled=False), lambda x: x, {})


def _said(tensors: list[torch.Tensor]) -> dict[str, Any]:
    return {"outputs": describe(tensors), "at": [t.data_ptr() for t in tensors]}


def test_one_tensor_for_two_results_is_told_by_the_judge_and_by_a_runner(prepared: Callable[..., Setting]) -> None:
    setting, y = prepared(SOURCE.format(result="y, y.clone(), y * 1.0", backward=False)), torch.zeros(8, 128)
    assert [spec["shares"] for spec in setting.output_specs] == [[], [], []]
    for one, well in (([y, y, y], False), ([y, y.clone(), y], False), ([y, y.clone(), y.clone()], True)):
        assert (shared(_said(one), setting.output_specs) is None) is well
        assert _opened(setting).deliver(one) is well
    assert ONE_FOR_SEVERAL in mismatch(describe([y, y, y]), setting, "cpu")
    assert shared({"outputs": None, "at": [1, "x", 3]}, setting.output_specs) is None


def test_what_lies_together_in_the_reference_may(prepared: Callable[..., Setting]) -> None:
    setting, y = prepared(SOURCE.format(result="y, y.T, y.clone()", backward=False)), torch.zeros(8, 128)
    assert shared(_said([y, y.T, y.clone()]), setting.output_specs) is None
    assert shared(_said([y, y.T.contiguous(), y]), setting.output_specs) == (0, 2)
    assert _opened(setting).deliver([y, y.T, y.clone()])


def test_gradients_may_lie_where_they_like(prepared: Callable[..., Setting]) -> None:
    setting, y = prepared(SOURCE.format(result="y", backward=True), backward=True), torch.zeros(8, 128)
    assert shared(_said([y, y]), setting.output_specs) is None
