"""A reference whose own result has no right digit: nothing can be compared with it."""

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from one_line import one_line  # noqa: E402

from kernwright.core.outcome import Suspicious  # noqa: E402
from kernwright.evaluation.ended import Ended  # noqa: E402
from kernwright.evaluation.problem.digitless import require_digits  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

CHAOS = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        for _ in range({steps}):
            x = 3.99 * x * (1 - x)
        return x{more}


def get_inputs():
    return [torch.rand(4096)]
"""


def test_of_many_steps_of_a_chaotic_map_no_result_is_told_from_another(prepared: Callable[[str], Setting]) -> None:
    with pytest.raises(Ended) as ended:
        require_digits([prepared(CHAOS.format(steps=100, more=""))])
    assert isinstance(ended.value.outcome, Suspicious)
    assert "no right digit beside float64" in ended.value.outcome.reason
    assert require_digits([prepared(CHAOS.format(steps=4, more=""))]) == []


def test_beside_others_such_an_output_is_named(prepared: Callable[[str], Setting]) -> None:
    (said,) = require_digits([prepared(CHAOS.format(steps=100, more=", x[:8] * 0 + 1"))])
    assert "output 0 (off by " in said
    assert "output 1" not in said


def test_what_is_0_but_for_rounding_is_judged(prepared: Callable[[str], Setting]) -> None:
    """As a mean of what was normalised: such problems are, and `hollow_notes` says what they are worth."""
    require_digits([prepared(one_line("x", "torch.randn(64, 512)", "(x - x.mean(1, keepdim=True)).mean(1)"))])


def test_a_choice_of_signs_is_no_lack_of_digits(
    prepared: Callable[[str], Setting], monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = prepared(one_line("x", "torch.randn(64, 64)", "torch.linalg.eigh(x + x.T)[1]"))
    case = setting.bases[0]
    signs = torch.ones(64).where(torch.arange(64) % 3 > 0, -1.0)
    turned = [case.oracle[0] * signs]
    monkeypatch.setattr(type(case), "oracle", property(lambda _: turned))
    assert require_digits([setting]) == []


@pytest.mark.parametrize(
    "result", ["x.exp().sum(-1)", "x.argmax(-1)", "x * 0", "x / 0", "torch.fft.fft(x)", "x.half() @ x.half()"]
)
def test_others_are_not(prepared: Callable[[str], Setting], result: str) -> None:
    assert require_digits([prepared(one_line("x", "torch.rand(64, 64)", result))]) == []
