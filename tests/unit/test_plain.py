"""Tensors that a module holds as neither parameter nor buffer."""

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from kernwright.evaluation.runner.plain import MOST_LONG, plain_tensors, replace_plain  # noqa: E402
from kernwright.evaluation.setting import Setting  # noqa: E402
from kernwright.evaluation.state import drawn_beside, drawn_plain, mark, state_of  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        self.factors = [torch.randn(8, 8), (torch.randn(8, 8),)]
        self.table = torch.linspace(0, 1, 8)
        self.tied = self.linear.weight.data

    def forward(self, x):
        return self.linear(x) @ self.factors[0] + self.table


def get_inputs():
    return [torch.randn(4, 8)]
"""


class _Holder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.tied = self.linear.weight.data[:1]
        self.inner = nn.ModuleList([nn.Module()])
        self.inner[0].table = torch.randn(3)
        self.many = {"a": [torch.randn(2), 7, None], "b": (torch.randn(2),), "c": torch.zeros(0)}
        self.twice = self.many["a"][0]
        self.long = [torch.randn(1)] * (MOST_LONG + 1)
        self.sparse = torch.randn(3, 3).to_sparse()
        self.itself: list[object] = []
        self.itself.append(self.itself)


def test_each_is_found_once_and_what_is_of_a_parameter_is_not() -> None:
    assert {*plain_tensors(_Holder())} == {"inner.0.table", "many.a.0", "many.b.0"}


def test_others_take_their_place_but_in_a_tuple() -> None:
    holder = _Holder()
    replace_plain(holder, ["inner.0.table", "many.a.0", "many.b.0"], torch.Tensor.double)
    found = {name: tensor.dtype for name, tensor in plain_tensors(holder).items()}
    assert found["inner.0.table"] == found["many.a.0"] == torch.float64
    assert found["many.b.0"] == torch.float32


def test_those_that_a_seed_decides_are_of_the_state_once_they_are_marked() -> None:
    holder = _Holder()
    assert {*state_of(holder)} == {"linear.weight", "linear.bias"}
    mark(holder, drawn_plain(holder, _Holder))
    assert {*drawn_beside(holder)} == {"inner.0.table", "many.a.0", "many.b.0"}
    assert {"inner.0.table", "many.a.0", "many.b.0"} < {*state_of(holder)}


def test_a_reference_has_them_followed_and_its_oracle_is_float64(prepared: Callable[[str], Setting]) -> None:
    setting = prepared(SOURCE)
    assert {*setting.followed} == {"linear.weight", "linear.bias", "factors.0", "factors.1.0"}
    assert "table" not in setting.state
    assert setting.double is not None
    assert setting.double.factors[0].dtype == torch.float64
    assert setting.double.factors[0] is not setting.model.factors[0]
