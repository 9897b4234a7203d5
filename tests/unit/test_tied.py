"""Where known values may not be put together for all inputs, they may be for those that hang together with none."""

import random
from collections.abc import Callable

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.distributions import probes  # noqa: E402
from kernwright.evaluation.probes.probe import Probe  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = one_line("a, b, x", "*torch.softmax(torch.randn(256, 3), 1)[:, :2].unbind(1), torch.randn(256, 16)")
Made = Callable[..., Setting]


def test_shares_of_which_the_rest_is_asked_for_stay_as_drawn(prepared: Made) -> None:
    setting = prepared(SOURCE.format(result="torch.log(1 - a - b)[:, None] + x.relu()"))
    assert setting.mixes
    assert setting.tied == {0, 1}
    assert "of inputs 0, 1 known values are not recombined: they may hang together" in setting.reference.notes
    a, b, x = setting.recombined(random.Random(3))
    drawn = [base.values for base in setting.bases]
    assert any(torch.equal(a, values[0]) and torch.equal(b, values[1]) for values in drawn)
    assert not any(torch.equal(x, values[2]) for values in drawn)
    assert any(not torch.equal(probe.case.values[2], setting.bases[0].values[2]) for probe in _probes(setting))


def test_nothing_is_tied_where_all_may_be_put_together(prepared: Made) -> None:
    setting = prepared(SOURCE.format(result="(a + b)[:, None] + x.relu()"))
    assert setting.mixes
    assert setting.tied == frozenset()


def test_where_all_hang_together_nothing_is_put_together(prepared: Made) -> None:
    two = one_line("a, b", "*torch.softmax(torch.randn(256, 3), 1)[:, :2].unbind(1),")
    setting = prepared(two.format(result="torch.log(1 - a - b)"))
    assert not setting.mixes
    assert setting.tied == frozenset()
    assert _probes(setting) == []


def _probes(setting: Setting) -> list[Probe]:
    return list(probes(setting, random.Random(2)))
