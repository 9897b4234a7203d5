"""What giving back a result takes: a candidate may do in it what its calls had to do."""

import math
from collections.abc import Sequence
from statistics import fmean, median

from .race import Race
from .witness import with_clock

FEWEST, DISTURBED = 4, 0.05
"""Of fewer nothing is told; and the share of the times, the longest, that others' work on the machine may explain."""
LEAST_NS, SHARE = 50_000.0, 0.04
"""Longer by less than this, or by such a share of a call, than it takes to give back a trusted participant's results:
that is the allocator's."""


def charge_drops(race: Race, name: str, trusted: str) -> tuple[float, str] | None:
    """Nanoseconds that each call of a participant counts longer, and why, where giving back its results takes longer
    than that of somebody else's, of the same size; None where it does not."""
    longer = _longer(race.drops.get(name, ()), race.drops.get(trusted, ()))
    if longer <= max(LEAST_NS, SHARE * median(race.times_ns(name))):
        return None
    race.clocks[name] = [with_clock(clocks, "device_ns", clocks.device_ns + longer) for clocks in race.clocks[name]]
    return longer, (
        f"{name} counts {longer / 1e3:.0f} µs more than its calls show: so much longer than {trusted}'s it takes to "
        f"give back its results, as where work is left for then (workload {race.setting.workload.name!r})"
    )


def _longer(own_ns: Sequence[float], others_ns: Sequence[float]) -> float:
    """In the middle, or on average, where much is done now and then."""
    if min(len(own_ns), len(others_ns)) < FEWEST:
        return 0.0
    return max(of(own_ns) - of(others_ns) for of in (median, _average))


def _average(times_ns: Sequence[float]) -> float:
    return fmean(sorted(times_ns)[: len(times_ns) - math.ceil(DISTURBED * len(times_ns))])
