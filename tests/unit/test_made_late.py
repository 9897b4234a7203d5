"""Probes that are made when their turn has come."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.late_probes import LateProbes  # noqa: E402
from kernwright.evaluation.probes.made_late import ENOUGH, ENOUGH_IN_A_HURRY, made_late  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402

SOURCE = one_line("x", "torch.randn(16, 32)", "torch.softmax(x, -1)")


@pytest.fixture
def full(prepared: Callable[..., Setting]) -> Setting:
    late = LateProbes(0)
    late.full = True
    return replace(prepared(SOURCE), late=late)


@pytest.mark.parametrize(("hurried", "most"), [(False, ENOUGH), (True, ENOUGH_IN_A_HURRY)])
def test_what_room_was_short_of_is_made(full: Setting, hurried: bool, most: int) -> None:
    for kept in (0, 2, most, most + 3):
        made = made_late(full, random.Random(1), kept, hurried=hurried)
        assert len(made) == max(0, most - kept)


def test_where_there_was_room_nothing_is(prepared: Callable[..., Setting]) -> None:
    for late in (None, LateProbes(1 << 30)):
        setting = replace(prepared(SOURCE), late=late)
        assert made_late(setting, random.Random(1), 0, hurried=False) == []
        lean = replace(setting, lean=True)
        assert len(made_late(lean, random.Random(1), 0, hurried=False)) == ENOUGH


def test_they_are_of_several_kinds_and_right_of_who_is_right(full: Setting) -> None:
    kinds = set[str]()
    for seed in range(6):
        for late in made_late(full, random.Random(seed), 0, hurried=False):
            probe = late()
            if probe is not None:
                kinds.add(probe.case.label)
                assert probe.compare(full.reference.outputs(full.model, probe.case.values)).passed
    assert len(kinds) > 5
    naive = lambda x: x.exp() / x.exp().sum(-1, keepdim=True)  # noqa: E731
    refused = 0
    for seed in range(6):
        made = (late() for late in made_late(full, random.Random(seed), 0, hurried=False))
        refused += any(not probe.compare([naive(probe.case.values[0])]).passed for probe in made if probe is not None)
    assert refused >= 3


def test_a_shortage_of_memory_is_told_and_ends_nothing(full: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    def short(*_: object) -> None:
        raise MemoryError

    full.reference.has_all_memory = False
    monkeypatch.setattr("kernwright.evaluation.probes.made_late.probes_in_any_order", short)
    assert made_late(full, random.Random(1), 0, hurried=False)[0]() is None
    assert any("memory did not suffice" in note for note in full.reference.notes)
