"""Tensors that a module holds as neither parameter nor buffer."""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.runner.plain import MOST_LONG, plain_tensors, replace_plain  # noqa: E402
from kernwright.evaluation.weights.beside import apart, drawn_beside, drawn_plain, has_views, mark  # noqa: E402
from kernwright.evaluation.weights.state import state_of  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        self.factors = [torch.randn(8, 8)]
        self.scales = {"one": torch.randn(8)}
        self.table = torch.linspace(0, 1, 8)

    def forward(self, x):
        return self.linear(x) @ self.factors[0] + self.table


def get_inputs():
    return [torch.randn(4, 8)]
"""


class _Entry:
    """No dataclass: whatever it holds is its own."""

    def __init__(self) -> None:
        self.hidden = torch.randn(3)


@dataclass
class _Pair:
    table: torch.Tensor


class _Holder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.tied = self.linear.weight.data[:1]
        self.inner = nn.ModuleList([nn.Module()])
        self.inner[0].table = torch.randn(3)
        self.many = {"a": [torch.randn(2), 7, None], "b": (torch.randn(2),), "c": torch.zeros(0)}
        self.twice = self.many["a"][0]
        self.up, self.down = torch.randn(4, 3).chunk(2)
        self.spaces = SimpleNamespace(one=_Pair(torch.randn(2)))
        self.entry = _Entry()
        self.work = torch.empty(64)
        self.missing = torch.full((3,), float("nan"))
        self.long = [torch.randn(1)] * (MOST_LONG + 1)
        self.sparse = torch.randn(3, 3).to_sparse()
        self.nested = torch.nested.nested_tensor([torch.randn(2), torch.randn(3)], layout=torch.jagged)
        self.nowhere = torch.empty(3, device="meta")
        self.lazy = [nn.LazyLinear(3).weight]
        self.itself: list[object] = []
        self.itself.append(self.itself)


DRAWN = {"inner.0.table", "many.a.0", "many.b.0", "up", "down", "spaces.one.table"}


def test_each_piece_of_memory_counts_once_and_what_is_of_a_parameter_does_not() -> None:
    holder = _Holder()
    assert {*apart(holder)} == DRAWN | {"work", "missing"}
    assert {*plain_tensors(holder)} == {*apart(holder), "tied", "twice"}
    assert has_views(holder)


def test_others_take_their_place_but_in_a_tuple() -> None:
    holder = _Holder()
    replace_plain(holder, DRAWN - {"many.b.0"}, torch.Tensor.double)
    found = plain_tensors(holder)
    assert {name for name in DRAWN if found[name].dtype == torch.float64} == DRAWN - {"many.b.0"}
    with pytest.raises(RuntimeError, match=r"a tuple holds many\.b\.0"):
        replace_plain(holder, ["many.b.0"], torch.Tensor.double)


def test_those_that_a_seed_decides_are_of_the_state_once_they_are_marked() -> None:
    def build(more: int) -> _Holder:
        torch.manual_seed(3 + more)
        return _Holder()

    holder = build(0)
    assert {*state_of(holder)} == {"linear.weight", "linear.bias"}
    mark(holder, drawn_plain(holder, build))
    assert {*drawn_beside(holder)} == DRAWN
    assert {*state_of(holder)} > DRAWN


def test_a_reference_has_them_followed_and_its_oracle_is_float64(prepared: Callable[[str], Setting]) -> None:
    setting = prepared(SOURCE)
    assert {*setting.followed} == {"linear.weight", "linear.bias", "factors.0", "scales.one"}
    assert "table" not in setting.state
    assert setting.double is not None
    assert setting.double.factors[0].dtype == torch.float64
    assert setting.double.factors[0] is not setting.model.factors[0]


@pytest.mark.parametrize("held", ["self.tied = self.linear.weight.data[0]", "self.pair = (torch.randn(8),)"])
def test_an_oracle_whose_weights_would_stay_behind_is_none(prepared: Callable[[str], Setting], held: str) -> None:
    setting = prepared(SOURCE.replace("self.table =", f"{held}; self.table ="))
    assert setting.double is None
    assert any("the oracle is float32" in note for note in setting.reference.notes)


def test_what_a_call_writes_to_is_no_weight(prepared: Callable[[str], Setting]) -> None:
    setting = prepared(SOURCE.replace("return self", "self.factors[0].copy_(x[:1].expand(8, 8)); return self"))
    assert "factors.0" not in setting.state
    assert any("a call changes 'factors.0'" in note for note in setting.reference.notes)
