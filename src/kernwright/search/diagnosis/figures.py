"""Every figure of a candidate under one name, and what follows from them."""

from collections.abc import Iterable, Mapping
from math import ceil, isfinite

from kernwright.core.counters import COUNTERS
from kernwright.core.outcome import Evaluation, timings_of
from kernwright.core.profile import Profile

PAGE_BYTES = 4096


def figures_of(profile: Profile | None, evaluation: Evaluation | None) -> dict[str, float]:
    """Everything that was counted of a candidate, its build's resources and its time included, and what follows."""
    figures: dict[str, float] = {}
    if evaluation is not None:
        figures |= {name: value for name, value in evaluation.resources.items() if name in COUNTERS}
    if profile is not None:
        figures |= profile.counters
    if evaluation is not None and (time_ns := _time_ns(evaluation)) is not None:
        figures["time_ns"] = time_ns
    known = {name: value for name, value in figures.items() if isfinite(value)}
    return known | dict(_derived(known))


def _derived(known: Mapping[str, float]) -> Iterable[tuple[str, float]]:
    ratios = (
        ("traffic_excess", "dram_bytes", "least_bytes"),
        ("copy_share", "copy_ns", "time_ns"),
        ("gap_share", "gap_ns", "time_ns"),
        ("host_share", "host_ns", "time_ns"),
        ("core_share", "cores_used", "threads_allowed"),
        ("reach", "intensity", "ridge"),
        ("bank_conflict_share", "bank_conflicts", "shared_wavefronts"),
    )
    for name, part, whole in ratios:
        if name not in known and part in known and known.get(whole, 0.0) > 0:
            yield name, known[part] / known[whole]
    if known.get("waves", 0.0) > 0:
        yield "tail_share", 1.0 - known["waves"] / ceil(known["waves"])
    if "page_faults" in known and known.get("least_bytes", 0.0) > 0:
        yield "fresh_share", known["page_faults"] * PAGE_BYTES / known["least_bytes"]


def _time_ns(evaluation: Evaluation) -> float | None:
    """Of the workload that weighs most; the judge's own figure."""
    timings = timings_of(evaluation.outcome)
    if timings is None:
        return None
    heaviest = max(timings.workloads, key=lambda each: each.weight)
    return heaviest.time_ns.get("candidate")
