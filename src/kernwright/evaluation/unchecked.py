"""Candidates whose calls became faster once the checks were over: they are timed in a process that no check has called.

Who leaves out of a call what only some values ask for is found by such values, as long as it does so when they come.
"""

import math
from collections.abc import Sequence
from statistics import median

from .statistics import set_log_ratio
from .timing import Race
from .witness import with_clock

FEWEST, FASTER = 4, 1.25
"""Of fewer calls nothing is told; and how many times as long as timed ones those before took, in the middle, where it
is looked closer: poisoned memory and others' work lengthen them too."""
GAIN, SLOWER = 1.1, 1.1
"""Who shows no more than this against the baseline has nothing to hide; and what a new process may take longer."""
BLOCKS, PROCESSES = 3, 2
"""Of samples there, which is fewer calls than the checks make; and how many new processes have to agree."""


def became_faster(race: Race, name: str, trusted: str) -> bool:
    """Whether a participant gains, and took longer for the generator's values while it was checked; by the judge's
    clock."""
    early, timed = race.setting.early_ns, [clocks.judge_ns for clocks in race.clocks[name]]
    if len(early) < FEWEST or median(early) <= FASTER * median(timed):
        return False
    return set_log_ratio(race.times_ns(name), race.times_ns(trusted)) > math.log(GAIN)


def charge_unchecked(race: Race, fresh: Sequence[Race], name: str, trusted: str) -> tuple[float, str] | None:
    """Nanoseconds that each call of a participant counts longer, and why, where it gains less in new processes."""
    gain, *new = (set_log_ratio(each.times_ns(name), each.times_ns(trusted)) for each in (race, *fresh))
    times = math.exp(gain - max(new))
    if times <= SLOWER:
        return None
    shown = median(race.times_ns(name))
    race.clocks[name] = [with_clock(clocks, "device_ns", times * clocks.device_ns) for clocks in race.clocks[name]]
    return (times - 1) * shown, (
        f"{name} counts {times:.2f} times what its calls show: in new processes, which no check had called, they take "
        f"so much longer (workload {race.setting.workload.name!r})"
    )


def suspects(races: Sequence[Race], name: str, trusted: str) -> list[Race]:
    """Those where it became faster."""
    return [race for race in races if became_faster(race, name, trusted)]
