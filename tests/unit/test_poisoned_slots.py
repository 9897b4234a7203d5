"""Which output slots are poisoned before a timed call: a candidate must not learn from them who looks at it."""

import random
from types import SimpleNamespace
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch")

from one_line import one_line  # noqa: E402

from kernwright.core.plan import QUICK  # noqa: E402
from kernwright.core.problem import Problem, Workload  # noqa: E402
from kernwright.evaluation.clocks import Clocks  # noqa: E402
from kernwright.evaluation.reference import Place, Reference  # noqa: E402
from kernwright.evaluation.setting import prepare  # noqa: E402
from kernwright.evaluation.timing import Track  # noqa: E402


class _Racer:
    """Gives what the reference would, and notes how its slots were filled."""

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


def _raced(*, bursts: bool) -> tuple[_Racer, _Racer]:
    workload = Workload(name="w")
    problem = Problem(name="p", source=one_line("x", "torch.randn(8, 16)", "x * 2"), workloads=(workload,))
    setting = prepare(Reference(problem, place=Place(apart_bytes=0)), workload, 0, random.Random(1), vary=True)
    session = SimpleNamespace(bursts=bursts, clocks=("device", "call"), memory_bytes=None)
    candidate, eager = _Racer("candidate"), _Racer("eager")
    track = Track(cast(Any, session), QUICK, random.Random(3), cold=False)
    track.race(setting, cast(Any, [candidate, eager]), settle=False)
    return candidate, eager


@pytest.mark.parametrize("bursts", [True, False])
def test_every_slot_of_a_candidates_is_poisoned(bursts: bool) -> None:
    candidate, _ = _raced(bursts=bursts)
    assert len(candidate.patterns) > 2 * QUICK.blocks
    assert set(candidate.patterns) == {0xFF}


def test_those_of_a_baselines_are_where_caches_would_tell_the_difference() -> None:
    assert set(_raced(bursts=False)[1].patterns) == {0xFF}
    assert None in _raced(bursts=True)[1].patterns
