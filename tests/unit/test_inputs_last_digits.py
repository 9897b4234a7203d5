"""Where a reference magnifies last digits, which draws do not ask of it, nobody is asked for more than it knows."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from three_diagonals import SOURCE, by_cyclic_reduction  # noqa: E402

from kernwright.evaluation.drawing import liberties  # noqa: E402
from kernwright.evaluation.drawing.mixture import HEAVY  # noqa: E402
from kernwright.evaluation.errors.choices import compare_chosen  # noqa: E402
from kernwright.evaluation.errors.comparison import Verdict  # noqa: E402
from kernwright.evaluation.errors.inputs_last_digits import excused  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.timing.kept_calls import require_right  # noqa: E402

Made = Callable[..., Setting]


@pytest.fixture
def tridiagonal(prepared: Made, monkeypatch: pytest.MonkeyPatch) -> Setting:
    monkeypatch.setattr(liberties, "MAGNIFIED_TRIES", 16)
    monkeypatch.setattr(liberties, "MAGNIFIED_S", 60.0)
    return prepared(SOURCE)


def test_systems_keep_what_an_honest_kernel_relies_on(tridiagonal: Setting) -> None:
    kernel, rng = by_cyclic_reduction, random.Random(2)
    assert tridiagonal.mixture is not None
    assert tridiagonal.mixture.kinds == ("larger",)
    for _ in range(4):
        values = tridiagonal.mixed(tridiagonal.drawn(rng), "larger", rng)
        require_right(tridiagonal, values, [kernel(*values)], "larger")


def test_what_larger_numbers_make_of_such_systems_may_be_off(tridiagonal: Setting) -> None:
    kernel, rng, refused, sizes = by_cyclic_reduction, random.Random(5), 0, dict.fromkeys(range(4), 1.0)
    assert tridiagonal.mixture is not None
    larger = replace(tridiagonal.mixture, strength=HEAVY, sizes=sizes, ranged=())
    for _ in range(12):
        drawn = tridiagonal.drawn(rng)
        values = tridiagonal.kept(larger.applied(drawn, "stretch", rng), drawn)
        output = kernel(*values)
        refused += not compare_chosen([output], tridiagonal.case(values, "mixed", 7), tridiagonal).passed
        require_right(tridiagonal, values, [output], "stretch")
    assert refused


def _said(setting: Setting, values: list[torch.Tensor], output: torch.Tensor) -> Verdict:
    case = setting.case(values, "mixed", 7)
    return excused(compare_chosen([output], case, setting), [output], case, setting)


def test_what_no_draw_magnifies_is_asked_as_before(prepared: Made) -> None:
    for result in ("torch.softmax(x, 1)", "x.sum(1)", "x @ x.T", "x.cos()", "x.var(1)"):
        setting = prepared(one_line("x", "torch.randn(64, 256)", result))
        assert setting.mixture is not None
        assert setting.mixture.strength == HEAVY
        (values,) = ([setting.mixed(setting.bases[0].values, kind, random.Random(3))[0]] for kind in ["few"])
        right, short = (
            setting.reference.outputs(setting.model, [v])[0] for v in (values[0], values[0].bfloat16().float())
        )
        assert _said(setting, values, right).passed
        assert not _said(setting, values, short).passed
        assert not _said(setting, values, right * 1.001).passed


def test_errors_of_a_few_last_digits_are_excused_where_these_are_magnified(prepared: Made) -> None:
    setting = prepared(one_line("x, y", "*torch.randn(2, 400)", "1 / (x + y)"))
    x = torch.randn(400)
    values = [x, (1e-4 * x - x)]
    others = [x * (1 + 2.0**-23), values[1]]
    output = setting.reference.outputs(setting.model, others)[0]
    case = setting.case(values, "mixed", 7)
    assert not compare_chosen([output], case, setting).passed
    assert _said(setting, values, output).passed
    assert not _said(setting, values, torch.zeros_like(output) * 0 + 7.0).passed
