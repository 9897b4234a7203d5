"""Inputs far from the generator's reach narrow types as they do wide ones."""

import random

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.core.problem import Problem, Workload  # noqa: E402
from kernwright.evaluation.checks.extremes import cases  # noqa: E402
from kernwright.evaluation.problem.reference import Reference  # noqa: E402
from kernwright.evaluation.problem.setting import prepare  # noqa: E402

SOURCE = one_line("x", "torch.randn(33, 70, dtype=torch.{dtype})")


def _labels(result: str, dtype: str) -> list[str]:
    source = SOURCE.format(result=result, dtype=dtype)
    reference = Reference(Problem(name="p", source=source, workloads=(Workload(name="w"),)))
    try:
        setting = prepare(reference, reference.problem.workloads[0], 0, random.Random(1), vary=True)
        return [case.label for case in cases(setting, random.Random(2))]
    finally:
        reference.close()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_what_one_rounding_loses_makes_no_input_too_hard(dtype: str) -> None:
    assert _labels("torch.softmax(x, 1)", dtype) == ["far from zero, spikes", "far from zero", "equal values"]


def test_what_cancels_is_too_hard_in_few_digits() -> None:
    assert _labels("(x * x).sum(1) - (x.flip(1) * 1.0001 * x.flip(1)).sum(1)", "bfloat16") == []
