"""What giving back a result takes, and what goes on after a reply: a candidate may do then what its calls had to
do."""

import math
from collections.abc import Sequence
from statistics import fmean, median, stdev

from kernwright.evaluation.participants.given import Drop

from .race import Race
from .witness import with_clock

FEWEST, DISTURBED = 12, 0.05
"""Of fewer nothing is told; and the share of the times, the longest, that others' work on the machine may explain."""
LEAST_NS, SHARE = 50_000.0, 0.04
"""Longer by less than this, or by such a share of a call, than it takes to give back a trusted participant's results:
that is the allocator's."""
SURELY, DOUBTED = 3.0, 2.0
"""So many standard errors are no chance; and so many times the other's may one's own count."""


def charge_drops(race: Race, name: str, trusted: str) -> dict[str, tuple[float, str]]:
    """Nanoseconds that each call of a participant counts longer, and why: where giving back its results takes longer
    than that of somebody else's, of the same size, and where it goes on for longer once it has replied."""
    about = {
        "it takes to give back its results, as where work is left for then": race.drops,
        "it goes on after its replies, until it is stopped": {
            each: [(ns, ns) for ns in times] for each, times in race.went_on_ns.items()
        },
    }
    found = {}
    for what, times in about.items():
        longer = _longer(times.get(name, ()), times.get(trusted, ()))
        if longer > max(LEAST_NS, SHARE * median(race.times_ns(name))):
            race.clocks[name] = [with_clock(c, "device_ns", c.device_ns + longer) for c in race.clocks[name]]
            found[what] = longer, _sentence(name, longer, trusted, what, race.setting.workload.name)
    return found


def _sentence(name: str, longer: float, trusted: str, what: str, workload: str) -> str:
    return (
        f"{name} counts {longer / 1e3:.0f} µs more than its calls show: so much longer than {trusted}'s {what} "
        f"(workload {workload!r})"
    )


def _longer(own: Sequence[Drop], others: Sequence[Drop]) -> float:
    """By how much one's are longer than another's, in the middle, or on average, where much is done now and then.

    By processor time, and by the clock where chance does not explain it: a process that comes and goes meanwhile leaves
    none, and others' work on the machine lengthens what a clock shows by as much as an honest call takes.
    """
    if min(len(own), len(others)) < FEWEST:
        return 0.0
    (own_used, own_taken), (others_used, others_taken) = (
        map(sorted, zip(*each, strict=True)) for each in (own, others)
    )
    longer = max(of(own_used)[0] - of(others_used)[0] for of in (_middle, _average))
    for of in (_middle, _average):
        (mine, doubt), (theirs, their_doubt) = of(own_taken), of(others_taken)
        # Whoever sleeps now and then must not be in doubt for that.
        if mine - theirs > longer + SURELY * math.hypot(min(doubt, DOUBTED * their_doubt), their_doubt):
            longer = mine - theirs
    return longer


def _middle(times_ns: Sequence[float]) -> tuple[float, float]:
    """Median of sorted times, and its standard error: half of what lies within as many places of it as the number of
    times below a median deviates by (W. J. Conover, "Practical Nonparametric Statistics", 1980, on quantiles)."""
    reach, last = math.sqrt(len(times_ns)) / 2, len(times_ns) - 1
    low, high = math.floor(max(last / 2 - reach, 0)), math.ceil(min(last / 2 + reach, last))
    return median(times_ns), (times_ns[high] - times_ns[low]) / 2


def _average(times_ns: Sequence[float]) -> tuple[float, float]:
    """The same of the mean without the longest."""
    kept = times_ns[: len(times_ns) - math.ceil(DISTURBED * len(times_ns))]
    return fmean(kept), stdev(kept) / math.sqrt(len(kept))
