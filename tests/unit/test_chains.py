"""Loops are asked about matrices in which every step counts."""

import random
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.checks.integers import cases  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.probes.chains import LABEL, chain_ways, chained  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.problem.spending import Spending  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = x.{kind}()
        for _ in range({steps}):
            {body}
        return {result}


def get_inputs():
    return [{inputs}]
"""
Made = Callable[..., Setting]
PATHS = {"kind": "float", "body": "y = (y.unsqueeze(-1) + y.unsqueeze(-3)).amin(-2)", "result": "y"}
REACHED = {"kind": "float", "body": "y = ((y @ y + y) > 0).float()", "result": "y > 0"}


@pytest.fixture
def setting_of(prepared: Callable[..., Setting]) -> Made:
    return lambda steps, inputs, **words: prepared(SOURCE.format(steps=steps, inputs=inputs, **words))


def shortest(x: torch.Tensor, steps: int) -> torch.Tensor:
    for _ in range(steps):
        x = (x.unsqueeze(-1) + x.unsqueeze(-3)).amin(-2)
    return x


def reached(x: torch.Tensor, steps: int) -> torch.Tensor:
    y = x.float()
    for _ in range(steps):
        y = ((y @ y + y) > 0).float()
    return y > 0


def test_a_chain_leads_through_all_places() -> None:
    value = torch.rand(3, 20, 20)
    for far, number in ((False, value.max()), (True, value.min())):
        made = chained(value, random.Random(1), far=far)
        links = made == number
        assert torch.equal(links[0], links[1])
        assert int(links[0].sum()) == 19
        assert int(reached(links[0], 5).sum()) == 20 * 19 // 2
    assert chained(torch.rand(9, 9) < 0.5, random.Random(1), far=False).dtype == torch.bool


def test_paths_of_few_edges_are_wrong(setting_of: Made) -> None:
    setting = setting_of(6, "torch.rand(2, 40, 40)", **PATHS)
    made = [way() for way in chain_ways(setting, setting.bases[0], random.Random(1))]
    probes = [probe for probe in made if probe is not None]
    assert probes
    passed = {steps: [p.compare([shortest(*p.case.values, steps)]).passed for p in probes] for steps in (3, 5, 6)}
    assert not all(passed[3])
    assert not all(passed[5])
    assert all(passed[6])


@pytest.mark.parametrize("inputs", ["torch.rand(40, 40) < 0.1", "torch.randint(0, 2, (40, 40))"])
def test_what_integers_reach_is_asked(setting_of: Made, inputs: str) -> None:
    setting = setting_of(6, inputs, **REACHED)
    made = [case for case in cases(setting, random.Random(1), Spending(60.0)) if case.label == LABEL]
    assert len(made) == 2
    passed = [
        [compare([reached(*case.values, steps)], case, setting.reference.problem).passed for case in made]
        for steps in (3, 6)
    ]
    assert not all(passed[0])
    assert all(passed[1])


JOINED = """\
import torch


class Model(torch.nn.Module):
    def forward(self, {names}):
        labels = torch.arange(40)
        for _ in range(16):
            labels = labels.scatter_reduce(0, {end}, labels[{begin}], "amin")
        return labels


def get_inputs():
    return [{inputs}]
"""
LIST = "torch.randint(0, 40, ({shape},))"


def joined(begin: torch.Tensor, end: torch.Tensor, steps: int) -> torch.Tensor:
    labels = torch.arange(40)
    for _ in range(steps):
        labels = labels.scatter_reduce(0, end, labels[begin], "amin")
    return labels


@pytest.mark.parametrize(
    ("names", "begin", "end", "inputs"),
    [
        ("a, b", "a", "b", f"{LIST.format(shape=90)}, {LIST.format(shape=90)}"),
        ("e", "e[0]", "e[1]", LIST.format(shape="2, 30")),
    ],
    ids=["two lists", "one of two lines"],
)
def test_a_list_of_edges_is_a_chain(
    prepared: Callable[[str], Setting], names: str, begin: str, end: str, inputs: str
) -> None:
    setting = prepared(JOINED.format(names=names, begin=begin, end=end, inputs=inputs))
    made = [case for case in cases(setting, random.Random(1), Spending(60.0)) if case.label == f"{LABEL} of edges"]
    assert len(made) == 1
    ends = made[0].values if len(made[0].values) == 2 else list(made[0].values[0])
    assert torch.equal(ends[0][1:30], ends[1][:29])
    assert int(torch.cat(ends).unique().numel()) == min(40, len(ends[0]) + 1)
    passed = [compare([joined(*ends, steps)], made[0], setting.reference.problem).passed for steps in (8, 16)]
    assert passed == [False, True]


@pytest.mark.parametrize(
    "inputs",
    ["torch.randint(0, 40, (90,)), torch.randint(0, 30, (90,))", "torch.randint(0, 40, (90,)), torch.arange(90) % 40"],
    ids=["other nodes", "not by chance"],
)
def test_other_lists_are_no_edges(prepared: Callable[[str], Setting], inputs: str) -> None:
    setting = prepared(JOINED.format(names="a, b", begin="a", end="b", inputs=inputs))
    made = cases(setting, random.Random(1), Spending(60.0))
    assert not any(case.label.startswith(LABEL) for case in made)


@pytest.mark.parametrize(
    ("steps", "inputs"),
    [
        pytest.param(3, "torch.rand(40, 40)", id="few steps"),
        pytest.param(6, "torch.rand(5, 5)", id="few places"),
        pytest.param(6, "torch.rand(40, 40, dtype=torch.complex64)", id="no order"),
    ],
)
def test_nothing_else_is_a_loop_of_steps(setting_of: Made, steps: int, inputs: str) -> None:
    setting = setting_of(steps, inputs, kind="clone", body="y = y @ y / 20", result="y")
    assert chain_ways(setting, setting.bases[0], random.Random(1)) == []


JUMPS = """\
import torch


class Model(torch.nn.Module):
    def forward(self, parent):
        for _ in range(8):
            parent = parent[parent]
        return parent


def get_inputs():
    return [{inputs}]
"""


@pytest.mark.parametrize(
    "inputs",
    [
        "(torch.rand(200) * torch.arange(200)).long()",
        "(torch.arange(1, 201) * torch.rand(200)).floor().to(torch.int64)",
    ],
)
def test_pointers_to_earlier_places_are_followed_to_the_first(prepared: Made, inputs: str) -> None:
    setting = prepared(JUMPS.format(inputs=inputs))
    made = [case for case in cases(setting, random.Random(1), Spending(60.0)) if case.label == f"{LABEL} of pointers"]
    assert len(made) == 1
    (parent,) = made[0].values
    assert parent.tolist() == [0, *range(199)]
    assert not bool(made[0].native[0].any())


@pytest.mark.parametrize(
    "inputs",
    [
        "(torch.rand(200) * torch.arange(200)).long().flip(0)",
        "(torch.rand(200) * torch.arange(200) * torch.rand(200)).long()",
        "(torch.rand(200) * torch.randperm(200)).long()",
        "(torch.rand(1) * torch.arange(200)).long()",
        "(torch.rand(100) * torch.arange(100)).to(torch.int8).long()",
        "(lambda p: (p.index_fill_(0, torch.tensor([7]), 3), p)[1])((torch.rand(200) * torch.arange(200)).long())",
        "*(lambda p: (p, p + 1))((torch.rand(200) * torch.arange(200)).long())",
    ],
)
def test_others_may_lead_nowhere_else(prepared: Made, inputs: str) -> None:
    setting = prepared(JUMPS.format(inputs=inputs).replace("parent):", "parent, *others):"))
    made = [case for case in cases(setting, random.Random(1), Spending(60.0)) if case.label == f"{LABEL} of pointers"]
    assert not made
