"""Whether two modules differ in what they hold beside tensors."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from torch import nn  # noqa: E402

from kernwright.evaluation.weights.likeness import alike  # noqa: E402


@dataclass
class _Config:
    n: int


class _Entry:
    """Whatever it holds is its own."""


def _times(factor: float) -> Callable[[float], float]:
    return lambda x: factor * x


class _Gated(nn.Module):
    def __init__(self, gate: bool) -> None:
        super().__init__()
        self.gate = gate


class _Owner(nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor
        self.times = self.forward
        self.parts = [self]

    def forward(self, x: float) -> float:
        return self.factor * x


def _with(**attributes: Any) -> nn.Module:
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    vars(model[0]).update(attributes)
    return model


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({}, {}, True),
        ({"a": torch.zeros(3)}, {"a": torch.ones(3)}, True),
        ({"a": torch.zeros(3)}, {"a": None}, False),
        ({"a": [1, (2.5, "x")]}, {"a": [1, (2.5, "x")]}, True),
        ({"a": {"b": {1, 2}}}, {"a": {"b": {1, 2}}}, True),
        ({"a": {"b": {1, 2}}}, {"a": {"b": {1, 3}}}, False),
        ({"a": 3}, {"a": 4}, False),
        ({"a": 3}, {"a": 3.0}, False),
        ({"a": 3}, {}, False),
        ({"a": [torch.zeros(3)]}, {"a": [torch.zeros(3), torch.zeros(3)]}, False),
        ({"a": torch.relu}, {"a": torch.relu}, True),
        ({"a": SimpleNamespace(n=3)}, {"a": SimpleNamespace(n=3)}, True),
        ({"a": _Config(3)}, {"a": _Config(3)}, True),
        ({"a": _Config(3)}, {"a": _Config(4)}, False),
        ({"a": _times(2)}, {"a": _times(2)}, True),
        ({"a": _times(2)}, {"a": _times(3)}, False),
        ({"a": partial(max, 2)}, {"a": partial(max, 2)}, True),
        ({"a": range(3)}, {"a": range(3)}, True),
        ({"a": float("nan")}, {"a": float("nan")}, True),
        ({"a": np.arange(3)}, {"a": np.arange(3)}, True),
        ({"a": np.arange(3)}, {"a": np.arange(3) + 1}, False),
        ({"a": np.int64(3)}, {"a": np.int64(4)}, False),
        ({"a": partial(max, 2)}, {"a": partial(max, 3)}, False),
        ({"a": [_Gated(True)]}, {"a": [_Gated(True)]}, True),
        ({"a": [_Gated(True)]}, {"a": [_Gated(False)]}, False),
    ],
)
def test_modules_are_alike_where_nothing_but_tensors_differs(
    one: dict[str, Any], other: dict[str, Any], same: bool
) -> None:
    for unknown in (True, False):
        assert alike(_with(**one), _with(**other), unknown=unknown) is same


@pytest.mark.parametrize("unknown", [True, False])
def test_of_what_nobody_knows_it_is_said_what_to_take_it_for(unknown: bool) -> None:
    assert alike(_with(a=_Entry()), _with(a=_Entry()), unknown=unknown) is unknown
    assert not alike(_with(a=_Entry(), b=1), _with(a=_Entry(), b=2), unknown=unknown)


def test_a_module_that_holds_itself_is_alike() -> None:
    assert alike(_Owner(2), _Owner(2), unknown=False)
    assert not alike(_Owner(2), _Owner(3), unknown=False)


@pytest.mark.parametrize("build", [nn.LSTM, lambda m, n: nn.utils.parametrizations.weight_norm(nn.Linear(m, n))])
def test_modules_of_pytorch_are_alike(build: Callable[[int, int], nn.Module]) -> None:
    assert alike(build(4, 4), build(4, 4), unknown=False)


@pytest.mark.parametrize("chosen", [0, 1])
def test_which_of_its_parts_a_list_names_is_compared(chosen: int) -> None:
    one, other = (nn.Sequential(nn.ReLU(), nn.ReLU()) for _ in range(2))
    vars(one)["used"], vars(other)["used"] = [one[0]], [other[chosen]]
    assert alike(one, other, unknown=False) is (chosen == 0)


def test_modules_of_other_parts_are_not_alike() -> None:
    assert not alike(nn.Sequential(nn.ReLU()), nn.Sequential(nn.ReLU(), nn.ReLU()), unknown=True)
    assert not alike(nn.Sequential(nn.ReLU()), nn.Sequential(nn.SiLU()), unknown=True)
