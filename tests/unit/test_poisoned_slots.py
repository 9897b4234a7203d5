"""Which output slots are poisoned before a timed call: a candidate must not learn from them who looks at it."""

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch")

from one_line import one_line  # noqa: E402

from kernwright.core.plan import QUICK  # noqa: E402
from kernwright.evaluation.clocks import Clocks  # noqa: E402
from kernwright.evaluation.setting import Setting  # noqa: E402
from kernwright.evaluation.timing import Track  # noqa: E402


class _Racer:
    """Gives what the reference would, and notes how its slots were filled."""

    drop_ns, reads = None, False

    def __init__(self, name: str) -> None:
        self.name, self.pairs = name, dict[int, Any]()
        self.patterns: list[int | None] = []

    def fill(self, workload: int, chosen: int, values: Any, pattern: int | None = 0xFF) -> None:
        self.patterns.append(pattern)

    def warm(self, *_: Any) -> None: ...

    def freeze(self) -> None: ...

    def call(self, workload: int, chosen: int, values: Any, **_: Any) -> tuple[Clocks, list[Any]]:
        return Clocks(8_000.0, 9_000.0, 9_000.0, 9_000.0, late_ns=0.0, queued=True), [values[0] * 2]

    def unchanged(self, workload: int, chosen: int, values: Any) -> Any:
        return torch.ones(len(values), dtype=torch.bool)


def _raced(prepared: Callable[..., Setting], *, bursts: bool) -> tuple[_Racer, _Racer]:
    setting = prepared(one_line("x", "torch.randn(8, 16)", "x * 2"))
    session = SimpleNamespace(bursts=bursts, clocks=("device", "call"), memory_bytes=None)
    candidate, eager = _Racer("candidate"), _Racer("eager")
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
