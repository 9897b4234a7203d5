"""How much of a device's memory long messages may take."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.footprint import LEAST_LATE, burst_bytes, late_bytes, memory_needed  # noqa: E402

GIB = 1 << 30


@pytest.mark.parametrize(
    ("memory", "call", "most"),
    [
        (None, 8 * GIB, GIB),
        (128 * GIB, 1 << 20, 2 * GIB),  # a 64th
        (128 * GIB, 3 * GIB // 4, 3 * GIB),  # four calls
        (128 * GIB, 3 * GIB, 4 * GIB),  # a 32nd, for less than that
        (24 * GIB, 1 << 20, GIB),  # at the least
        (8 * GIB, GIB, GIB // 2),  # a 16th of a small one
    ],
)
def test_large_calls_have_room_for_four_where_there_is_memory(memory: int | None, call: int, most: int) -> None:
    assert burst_bytes(memory, call) == most


@pytest.mark.parametrize(("mib", "more"), [(8, False), (128, True), (2048, False)])
def test_the_least_late_probes_are_reserved_where_they_exceed_their_room(mib: int, more: bool) -> None:
    """Of 80 GiB, for 8 MiB in and out there is room; cases of 2 GiB are made anew at each use."""
    given = torch.empty(mib << 20, dtype=torch.uint8, device="meta")
    load, memory = object(), 80 * GIB
    reference = SimpleNamespace(
        place=SimpleNamespace(memory_bytes=memory),
        problem=SimpleNamespace(timed=(load,), workloads=(load,), backward=False),
        sketch=lambda _: SimpleNamespace(inputs=[given], other_bytes=mib << 20),
    )
    needed = memory_needed(cast(Any, reference), 1).held - memory_needed(cast(Any, reference), 0).held
    least = LEAST_LATE * 4 * (mib << 20)
    assert (needed - 6 - memory // 32) == (least - late_bytes(memory, 1) if more else 0)
