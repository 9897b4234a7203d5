"""Candidates whose calls became faster once the checks were over: they are timed in a process that no check has called.

Who leaves out of a call what only some values ask for is found by such values, as long as it does so when they come.
"""

import math
from collections.abc import Callable, Sequence
from statistics import median

from .race import Race
from .statistics import set_log_ratio
from .witness import with_clock

FEWEST, FASTER = 4, 1.25
"""Of fewer calls nothing is told; and how many times as long as timed ones those before took, in the middle, where it
is looked closer: poisoned memory and others' work lengthen them too."""
GAIN, SLOWER = 1.1, 1.1
"""Who shows no more than this against the baseline has nothing to hide; and what a new process may take longer."""
BLOCKS = 3
"""Of samples there, which is fewer calls than the checks make."""
CLEARLY, PROCESSES, MOST = 1.5, 2, 6
"""So many new processes have to agree where all take clearly longer, and so many where they do by less: on a busy
machine one may take a tenth longer by chance."""


def became_faster(race: Race, name: str, trusted: str) -> bool:
    """Whether a participant gains, and took longer for the generator's values while it was checked; by the judge's
    clock."""
    early, timed = race.setting.early_ns, [clocks.judge_ns for clocks in race.clocks[name]]
    if len(early) < FEWEST or median(early) <= FASTER * median(timed):
        return False
    return set_log_ratio(race.times_ns(name), race.times_ns(trusted)) > math.log(GAIN)


def charge_unchecked(
    suspected: Sequence[Race], timed_anew: Callable[[Sequence[Race]], list[Race]], name: str, trusted: str
) -> list[tuple[Race, float, str]]:
    """Races where a participant gains less in all new processes, nanoseconds that each of its calls counts longer
    there, and why. `timed_anew` times it and the trusted one in new processes on the workloads of these races."""
    asked, charged = [(race, list[Race]()) for race in suspected], list[tuple[Race, float, str]]()
    for number in range(1, MOST + 1):
        if not asked:
            break
        left = []
        for (race, fresh), new in zip(asked, timed_anew([race for race, _ in asked]), strict=True):
            times = _times_longer(race, [*fresh, new], name, trusted)
            if times > SLOWER and number >= (PROCESSES if times > CLEARLY else MOST):
                charged.append((race, *_charge(race, times, name)))
            elif times > SLOWER:
                left.append((race, [*fresh, new]))
        asked = left
    return charged


def _times_longer(race: Race, fresh: Sequence[Race], name: str, trusted: str) -> float:
    """By the new process in which it gains most."""
    gain, *new = (set_log_ratio(each.times_ns(name), each.times_ns(trusted)) for each in (race, *fresh))
    return math.exp(gain - max(new))


def _charge(race: Race, times: float, name: str) -> tuple[float, str]:
    shown = median(race.times_ns(name))
    race.clocks[name] = [with_clock(clocks, "device_ns", times * clocks.device_ns) for clocks in race.clocks[name]]
    return (times - 1) * shown, (
        f"{name} counts {times:.2f} times what its calls show: in new processes, which no check had called, they take "
        f"so much longer (workload {race.setting.workload.name!r})"
    )


def suspects(races: Sequence[Race], name: str, trusted: str) -> list[Race]:
    """Those where it became faster."""
    return [race for race in races if became_faster(race, name, trusted)]
