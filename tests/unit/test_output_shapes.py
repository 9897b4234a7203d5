"""Results that change shape with the values of a workload are said to, and what the judge makes up is no reason."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.core.errors import UserError  # noqa: E402
from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.problem.degeneracy import findings  # noqa: E402
from kernwright.evaluation.problem.place import Place  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = one_line("x, y", "torch.randn(96, 64), {more}")


@pytest.mark.parametrize("memory", [None, 300_000])
def test_outputs_whose_shape_hangs_on_values_are_refused_in_a_sentence(
    prepared: Callable[..., Setting], memory: int | None
) -> None:
    source = SOURCE.format(result="torch.sin(x[y])", more="torch.rand(96, 64) < 0.3")
    with pytest.raises(UserError, match=r"outputs have other shapes for other values of workload 'w'.*fixed shapes"):
        prepared(source, Place(memory_bytes=memory) if memory else Place())


def test_probes_of_which_the_reference_makes_another_shape_are_left_out(prepared: Callable[..., Setting]) -> None:
    source = SOURCE.format(result="torch.exp(y)[(x.abs() < 1e3).all(-1)]", more="torch.randn(96, 64)")
    setting = prepared(source)
    made = [probe.case for probe in probes(setting, random.Random(2))]
    assert made
    assert all(case.native[0].shape == (96, 64) for case in made)
    with pytest.raises(UserError, match="other shapes"):
        setting.case([setting.bases[0].values[0] * 1e6, setting.bases[0].values[1]], "far", 0)


def test_an_input_that_decides_the_shape_is_not_unused(prepared: Callable[..., Setting]) -> None:
    setting = prepared(SOURCE.format(result="x[: int(y[0])]", more="torch.tensor([64, 1])"))
    setting.bases[1].values[1] = torch.tensor([63, 1])
    assert not any("input 1" in str(finding) for finding in findings(setting))
