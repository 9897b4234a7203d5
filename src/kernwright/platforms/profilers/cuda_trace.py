"""Kernels of one call with their launches, gaps and host time, by PyTorch's profiler; no permission is needed."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from kernwright.core.profile import KernelProfile, Profile

from . import tools
from .cuda_limits import Launch, Limits, occupancy, waves

MOST_KERNELS = 12
MOST_EVENTS = 200_000
_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
WARM_CALLS = 3


@dataclass(frozen=True, slots=True)
class Device:
    """Whose kernels they are."""

    limits: Limits | None
    multiprocessors: int
    synchronise: Callable[[], None]


def look(call: Callable[[], object], device: Device, folder: Path) -> Profile:
    """One call after a few that warm it up.

    Raises:
        Silent: the profiler saw nothing.
    """
    from torch.profiler import ProfilerActivity, profile

    os.environ["KINETO_LOG_LEVEL"] = "5"
    for _ in range(WARM_CALLS):
        call()
    device.synchronise()
    began = perf_counter_ns()
    call()
    host_ns = float(perf_counter_ns() - began)
    device.synchronise()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        call()
        device.synchronise()
    path = folder / "trace.json"
    seen.export_chrome_trace(str(path))
    try:
        events = json.loads(path.read_text(errors="replace"))["traceEvents"][:MOST_EVENTS]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise tools.Silent(f"its trace cannot be read ({type(error).__name__})") from None
    finally:
        path.unlink(missing_ok=True)
    return profile_of(events, host_ns, device)


def profile_of(events: Iterable[Mapping[str, Any]], host_ns: float, device: Device) -> Profile:
    """Of a Chrome trace's events, whose times are in microseconds."""
    work = [e for e in events if e.get("cat") in _DEVICE and isinstance(e.get("dur"), int | float)]
    if not work:
        raise tools.Silent("it saw no work of the device")
    work.sort(key=lambda e: float(e["ts"]))
    busy, end = 0.0, float(work[0]["ts"])
    for event in work:
        start, stop = float(event["ts"]), float(event["ts"]) + float(event["dur"])
        busy += max(0.0, stop - max(start, end))
        end = max(end, stop)
    span = end - float(work[0]["ts"])
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for event in work:
        by_name.setdefault(str(event.get("name", "?")), []).append(event)
    kernels = [_kernel(name, same, device) for name, same in by_name.items()]
    kernels.sort(key=lambda kernel: -kernel.counters["time_ns"])
    counters = {
        "time_ns": span * 1e3,
        "host_ns": host_ns,
        "gap_ns": max(0.0, span - busy) * 1e3,
        "launches": float(len(work)),
    }
    named = kernels[0].counters
    longest = {name: value for name, value in named.items() if name not in counters}
    return Profile(tools=("torch profiler",), counters=counters | longest, kernels=tuple(kernels[:MOST_KERNELS]))


def _kernel(name: str, same: list[Mapping[str, Any]], device: Device) -> KernelProfile:
    counters = {"time_ns": sum(float(e["dur"]) for e in same) * 1e3, "launches": float(len(same))}
    said = same[0].get("args") or {}
    numbers = {
        "registers": said.get("registers per thread"),
        "shared_bytes": said.get("shared memory"),
        "threads": _product(said.get("block")),
        "blocks": _product(said.get("grid")),
    }
    known = {name: float(n) for name, n in numbers.items() if isinstance(n, int | float) and n >= 0}
    if device.limits is not None and known.get("threads") and known.get("blocks"):
        threads, registers, shared = (int(known.get(name, 0.0)) for name in ("threads", "registers", "shared_bytes"))
        fits = occupancy(device.limits, Launch(threads=threads, registers=registers, shared_bytes=shared))
        resident = min(value for name, value in fits.items() if name.startswith("blocks_by"))
        known |= fits | {"waves": waves(device.limits, int(known["blocks"]), resident, device.multiprocessors)}
    return KernelProfile(name=tools.plain(name), counters=counters | known)


def _product(sizes: Any) -> float | None:
    if not isinstance(sizes, list) or not all(isinstance(n, int) for n in sizes):
        return None
    result = 1.0
    for n in sizes:
        result *= n
    return result
