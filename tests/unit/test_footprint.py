"""How much of a device's memory long messages may take."""

import pytest

pytest.importorskip("torch")

from kernwright.evaluation.footprint import burst_bytes

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
