"""How much of a device's memory an evaluation takes, as far as sizes tell."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from .problem.reference import Reference, Sketch

PARTICIPANTS = 6
"""Runners of an evaluation that live at the same time, and what the judge itself holds."""
MOST_SHARE = 36
"""Three bases, their oracles and four participants take up to so many times what one call reads and writes."""
USUAL_SHARE, LEAN_SHARE = 18, 12
"""What is reserved, in the same measure: nearly all evaluations stay well below the most, and one that does not is
made again with the device for itself (`Room.made`). The latter where cases are made anew at each use."""
BURST_CALLS, BURST_BYTES, BURST_SHARE = 384, 1 << 30, 64
"""Calls of a long message at the most; and what their inputs may hold together, and their results, or such a share of a
device's memory."""
AT_LEAST, LARGE_SHARE, SMALL_SHARE = 4, 32, 16
"""Where that is less than so many calls need, they may hold more, up to such a share; of a small device never more than
the last."""
BURST_PARTS = 3
"""What long messages take, in the same measure: inputs, the judge's own copy of them, and results."""
KEPT_BYTES, KEPT_SHARE = 256 << 20, 32
"""So much of the timed calls is kept to be compared when the timing is over, or such a share of a device's memory."""
LATE_SHARE, LEAST_LATE = 4, 2
"""Of that such a share is for probes among the timed calls, of all workloads; so many of each there are in any case."""
WITH_ORACLE = 3
"""Results, and the same in a wider type, take so many times as much memory as the former."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """Bytes of device memory that an evaluation takes."""

    held: int
    """From its beginning to its end, and until the next one begins."""
    timing: int = 0
    """Beside that while it has the device alone, as one judge at a time does."""


def nbytes_of(values: Iterable[Any]) -> int:
    """Bytes of the tensors among these."""
    return sum(v.numel() * v.element_size() for v in values if isinstance(v, torch.Tensor))


def is_lean(reference: Reference, call_bytes: int) -> bool:
    """Whether cases, their oracles and all participants' memory would not fit on the device together."""
    room = reference.place.memory_bytes
    return room is not None and call_bytes * MOST_SHARE >= room / len(reference.problem.workloads)


def kept_bytes(memory_bytes: int | None) -> int:
    """How much of the timed calls is kept, beside a device of so much memory or of the host's."""
    return max(KEPT_BYTES, (memory_bytes or 0) // KEPT_SHARE)


def late_bytes(memory_bytes: int | None, workloads: int) -> int:
    """How much the probes among the timed calls of one of so many workloads may hold."""
    return kept_bytes(memory_bytes) // LATE_SHARE // max(workloads, 1)


def late_probe_bytes(given: int, made: int) -> int:
    """What a probe holds whose inputs and results take so much."""
    return given + WITH_ORACLE * made


def burst_bytes(memory_bytes: int | None, call_bytes: int) -> int:
    """What the inputs of all calls of a long message may hold on a device of so much memory, and their results.

    `call_bytes`: what those of one call hold.
    """
    if memory_bytes is None:
        return BURST_BYTES
    few = min(AT_LEAST * call_bytes, memory_bytes // LARGE_SHARE)
    return min(max(BURST_BYTES, memory_bytes // BURST_SHARE, few), memory_bytes // SMALL_SHARE)


def memory_needed(reference: Reference, apart_bytes: int) -> Needed:
    """What to reserve for an evaluation.

    `apart_bytes`: what two input sets may hold without lying over one another; 0 where there is no device.

    Raises:
        UserError: the problem's generator fails.
    """
    times = 2 if reference.problem.backward else 1  # every number has a gradient, or is the direction of one
    calls = [times * _call_bytes(reference.sketch(load)) for load in reference.problem.workloads]
    needed = sum((LEAN_SHARE if is_lean(reference, each) else USUAL_SHARE) * each for each in calls)
    if not apart_bytes:
        return Needed(held=needed)
    memory = reference.place.memory_bytes
    messages = BURST_PARTS * max((min(burst_bytes(memory, each), BURST_CALLS * each) for each in calls), default=0)
    held = needed + len(calls) * PARTICIPANTS * apart_bytes + kept_bytes(memory) + _more_for_late(reference, times)
    return Needed(held=held, timing=messages)


def _more_for_late(reference: Reference, times: int) -> int:
    """What the least probes among the timed calls take beyond their room."""
    timed, memory = reference.problem.timed, reference.place.memory_bytes
    sketches = [reference.sketch(load) for load in timed]
    least = [
        LEAST_LATE * times * late_probe_bytes(*_given_and_made(sketch))
        for sketch in sketches
        if not is_lean(reference, times * _call_bytes(sketch))
    ]
    return sum(max(0, each - late_bytes(memory, len(timed))) for each in least)


def _call_bytes(sketch: Sketch) -> int:
    return sum(_given_and_made(sketch))


def _given_and_made(sketch: Sketch) -> tuple[int, int]:
    given = nbytes_of(sketch.inputs)
    return given, given if sketch.other_bytes is None else sketch.other_bytes
