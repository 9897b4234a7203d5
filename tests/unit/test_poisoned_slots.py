"""Which output slots are poisoned before a timed call: a candidate must not learn from them who looks at it."""

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch")

from one_line import one_line  # noqa: E402
from racer import Racer  # noqa: E402

from kernwright.core.plan import QUICK  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.timing.track import Track  # noqa: E402


def _raced(prepared: Callable[..., Setting], *, bursts: bool) -> tuple[Racer, Racer]:
    setting = prepared(one_line("x", "torch.randn(8, 16)", "x * 2"))
    session = SimpleNamespace(bursts=bursts, clocks=("device", "call"), memory_bytes=None)
    candidate, eager = Racer("candidate"), Racer("eager")
    track = Track(cast(Any, session), QUICK, random.Random(3), cold=False)
    track.race(setting, cast(Any, [candidate, eager]), settle=False)
    return candidate, eager


@pytest.mark.parametrize("bursts", [True, False])
def test_every_slot_of_a_candidates_is_poisoned(prepared: Callable[..., Setting], bursts: bool) -> None:
    candidate, _ = _raced(prepared, bursts=bursts)
    assert len(candidate.patterns) > 2 * QUICK.blocks
    assert set(candidate.patterns) == {0xFF}


def test_those_of_a_baselines_are_where_caches_would_tell_the_difference(prepared: Callable[..., Setting]) -> None:
    assert set(_raced(prepared, bursts=False)[1].patterns) == {0xFF}
    assert None in _raced(prepared, bursts=True)[1].patterns
