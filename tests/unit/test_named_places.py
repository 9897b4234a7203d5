"""What names places names each once, whichever of equal numbers it names first."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.errors.comparison import Verdict  # noqa: E402
from kernwright.evaluation.errors.named_places import with_places  # noqa: E402

SOURCE = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return {made}


def get_inputs():
    return [torch.tensor([[5.0, 5.0, 3.0, 1.0], [2.0, 7.0, 7.0, {odd}]])]
"""
TWO = "x.topk(2, -1).indices"
ORDER = "x.argsort(-1, descending=True)"
MET = Verdict(passed=True, ratio=0.0)
Prepared = Callable[..., Any]


def judged(prepared: Prepared, made: str, got: list[list[int]], odd: str = "0.0") -> Verdict:
    setting = prepared(SOURCE.format(made=made, odd=odd))
    case = setting.bases[0]
    return with_places(MET, [torch.tensor(got, dtype=case.native[0].dtype)], case, setting)


@pytest.mark.parametrize(
    "made", [ORDER, f"{ORDER}.int()", f"{ORDER}.T.contiguous().T", "x.sort(-1, descending=True)[1]"]
)
@pytest.mark.parametrize(
    ("got", "fault"),
    [
        ([[1, 0, 2, 3], [2, 1, 0, 3]], ""),
        ([[0, 1, 2, 3], [2, 1, 0, 3]], ""),
        ([[0, 0, 2, 3], [1, 2, 0, 3]], "names the place 0 twice"),
        ([[0, 1, 2, 4], [1, 2, 0, 3]], "names places from 0 to 4, of lines of 4"),
        ([[0, 2, 1, 3], [1, 2, 0, 3]], "names the place of 3 where the reference chooses 5"),
    ],
)
def test_an_order_names_each_place_once(prepared: Prepared, made: str, got: list[list[int]], fault: str) -> None:
    found = judged(prepared, made, got)
    assert found.passed == (not fault)
    assert fault in found.detail


def test_a_second_that_is_smaller_is_none_of_two_equal(prepared: Prepared) -> None:
    assert judged(prepared, TWO, [[1, 0], [2, 1]]).passed
    assert "the place of 3 where the reference chooses 5" in judged(prepared, TWO, [[0, 2], [1, 2]]).detail
    assert judged(prepared, f"{TWO}[:, :1]", [[1], [2]]).passed
    assert not judged(prepared, f"{TWO}[:, 1:]", [[2], [2]]).passed


def test_ranks_are_as_many_as_there_are_numbers(prepared: Prepared) -> None:
    ranks = "x.argsort(-1).argsort(-1)"
    assert judged(prepared, ranks, [[3, 2, 1, 0], [1, 3, 2, 0]]).passed
    assert "twice" in judged(prepared, ranks, [[2, 2, 1, 0], [1, 2, 3, 0]]).detail


def test_what_rounding_may_have_chosen_needs_not_be_like(prepared: Prepared) -> None:
    """Numbers that the reference has computed may be others elsewhere."""
    computed = "(x.exp().log()).argsort(-1, descending=True)"
    assert judged(prepared, computed, [[0, 2, 1, 3], [1, 2, 0, 3]]).passed
    assert not judged(prepared, computed, [[0, 0, 1, 3], [1, 2, 0, 3]]).passed


@pytest.mark.parametrize(
    "made",
    ["(x > 4).long() * 2 + 1", f"{ORDER} + 1", f"{ORDER}.clone().mul_(2)", "x.argmax(-1, keepdim=True).expand(2, 4)"],
)
def test_of_other_integers_nothing_is_asked(prepared: Prepared, made: str) -> None:
    assert judged(prepared, made, [[0, 0, 0, 0], [9, 9, 9, 9]]).passed


def test_nothing_is_asked_of_places_of_infinite_numbers(prepared: Prepared) -> None:
    """Who strikes out by an infinity what it has taken finds it again where no other number is left."""
    assert judged(prepared, "x.sort(-1).indices", [[3, 2, 0, 1], [0, 0, 1, 2]], "-torch.inf").passed


def test_a_verdict_that_failed_stays(prepared: Prepared) -> None:
    setting = prepared(SOURCE.format(made=ORDER, odd="0.0"))
    failed = Verdict(passed=False, ratio=2.0, detail="so")
    case = setting.bases[0]
    assert with_places(failed, [torch.zeros_like(case.native[0])], case, setting) is failed
