"""Results that are dictionaries are compared by their keys, in whatever order a kernel has these."""

from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Outcome
from kernwright.core.plan import QUICK
from kernwright.core.problem import Problem, Workload
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.runner.keys import arranged, keys_of, names_by_key
from kernwright.evaluation.runner.structure import OtherKeys, describe, flatten
from kernwright.platforms.cpu import Cpu

SOURCE = """
import torch

BACKWARD = {backward}

class Model(torch.nn.Module):
    def forward(self, x):
        return {{"mean": x.mean(-1), "ends": [x[:, 0] * 1, {{"low": x.amin(-1), 1: x.amax(-1)}}], "rest": None}}

def get_inputs():
    return [torch.randn(64, 32)]
"""
KERNEL = """
def kernel(x):
    return {"ends": [x[:, 0] * 1, {1: x.amax(-1), "low": x.amin(-1)}], "mean": x.mean(-1), "rest": None}
"""
UNORDERED = KERNEL.replace("amax", "other").replace("amin", "amax").replace("other", "amin")


@pytest.mark.parametrize(
    ("result", "own", "laid"),
    [
        ({"a": 1, "b": 2}, {"b": 4, "a": 3}, [3, 4]),
        (OrderedDict(a=1, b=2), {"b": 4, "a": 3}, [3, 4]),
        ([0, {"a": 1, "b": {"c": 2, 7: 3}}], (9, {"b": {7: 6, "c": 5}, "a": 4}), [9, 4, 5, 6]),
        ({("a", 1): 1, None: 2}, {None: 4, ("a", 1): 3}, [3, 4]),
        ({"a": 1, "b": 2}, (3, 4), [3, 4]),
        ([{"a": 1}, 2], [{"a": 3}, 4, 5], [3, 4, 5]),
        ([1, 2], {"b": 4, "a": 3}, [4, 3]),
        ((1, None), (3, None), [3]),
        ({"a": 1, "b": [None, 2]}, {"b": (None, 4), "a": 3}, [3, 4]),
        ({object: 1, "b": 2}, {"b": 4, object: 3}, [4, 3]),
    ],
)
def test_values_come_in_the_order_of_the_references_keys(result: Any, own: Any, laid: list[int]) -> None:
    assert flatten(arranged(lambda: own, keys_of(result))()) == laid


@pytest.mark.parametrize(
    ("result", "own", "said"),
    [
        ((1, None), (1, 2), "the result[1] is of type int, and the reference's is None"),
        ((1, None), (None, 1), "the result[0] is None, and the reference's is not"),
        ({"a": 1, "b": None}, {"a": None, "b": None}, "the result['a'] is None, and the reference's is not"),
        ({"a": 1}, {"b": 1}, "the result has the keys ['b'], and the reference's has the keys ['a']"),
        ({"a": 1, "b": 2}, {}, "the result has no keys, and the reference's has the keys ['a', 'b']"),
        (
            [0, {"a": {"b": 1}}],
            [0, {"a": {1: 1, "b": 2}}],
            "the result[1]['a'] has the keys [1, 'b'], and the reference's has the keys ['b']",
        ),
    ],
)
def test_other_keys_are_told(result: Any, own: Any, said: str) -> None:
    got = arranged(lambda: own, keys_of(result))()
    assert isinstance(got, OtherKeys)
    assert describe(flatten(got)) == [["OtherKeys", said]]


@pytest.mark.parametrize(
    ("result", "names"),
    [
        ({"a": 1, "b": [2, 3]}, ["output 'a'", "output 'b'[0]", "output 'b'[1]"]),
        ([0, {7: {"c": 1}}], ["output 0", "output 1[7]['c']"]),
        ((1, [2, 3]), ["output 0", "output 1", "output 2"]),
        ({object: 1}, ["output 0"]),
    ],
)
def test_results_are_called_by_their_keys(result: Any, names: list[str]) -> None:
    assert names_by_key(keys_of(result), len(names)) == names


@pytest.mark.timed
@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("backward", [False, True])
def test_a_dictionary_is_judged_by_its_keys(tmp_path: Path, home: Path, backward: bool) -> None:
    judge = Judge(home=str(tmp_path))
    try:
        source = SOURCE.format(backward=backward)
        assert _outcome(judge, home, source, KERNEL).kind == "measured"
        swapped = _outcome(judge, home, source, UNORDERED)
        assert swapped.kind == "wrong"
        assert "output 'ends'[1]['low']" in swapped.reason
        other = _outcome(judge, home, source, KERNEL.replace('"mean"', '"average"'))
        assert other.kind == "wrong"
        assert (
            "has the keys ['ends', 'average', 'rest'], and the reference's has the keys ['mean', 'ends', 'rest']"
            in other.reason
        )
        more = _outcome(judge, home, source, KERNEL.replace("None", "x.mean(-1)"))
        assert more.kind == "wrong"
        assert "the result['rest'] is of type Tensor, and the reference's is None" in more.reason
    finally:
        judge.close()


def _outcome(judge: Judge, home: Path, source: str, text: str) -> Outcome:
    job = EvalJob(
        problem=Problem(
            name="named", source=source, workloads=(Workload(name="default"),), backward="BACKWARD = True" in source
        ),
        candidate=Candidate(language="torch", files=(SourceFile(name="candidate.py", text=text),)),
        target=Cpu().targets()[0],
        plan=QUICK,
        language="kernwright.languages.torch:Torch",
        platform="kernwright.platforms.cpu:Cpu",
        home=str(home),
    )
    return judge.evaluate(job).outcome
