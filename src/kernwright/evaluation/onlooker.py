"""Looks into calls from outside: the judge stops a runner in the middle of one and reads where its threads are."""

import random
import time
from bisect import bisect_right
from collections import Counter
from functools import partial
from pathlib import Path
from statistics import median

from .participant import Participant
from .runner import tree
from .setting import SETS
from .timing import Race

VENDORS = ("/torch/lib/", "mkl", "blas", "lapack", "dnnl", "/numpy/", "/numpy.libs/", "/scipy/", "/scipy.libs/")
"""Parts of paths of libraries that do the work of others."""
LARGEST_SHARE = 0.3
"""Of a call's time in them: more than the tenth that is asked of operators, for allocating and filling counts here."""
OVERHEAD_NS = 10_000
"""What a call may take of them beside that: making a tensor, asking for its size."""
LOOKS = 6
"""Beside each block of samples."""
SURE = 1e-4
"""Probability at which a kernel within the limit is refused."""
LONG_NS = 500_000
"""From here on single calls are looked into, which nothing tells from timed ones; below, calls of one message."""
PER_CALL = 3
MESSAGE_NS = 20_000_000
WAKE_NS = 60_000
"""What a message and its waking up take."""
LATEST = 0.85
"""Part of a call's time after which no look begins: its end is followed by the harness's own copying."""


class Onlooker:
    """Counts where the working threads of a candidate are, in calls between the blocks of its races."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._seen: Counter[str] = Counter()
        self._longest_overhead = 0.0

    def after_block(self, race: Race, candidate: Participant) -> None:
        """Have the candidate called as it was called for its samples, and look into that."""
        setting, shown_ns = race.setting, median(race.times_ns(candidate.name))
        self._longest_overhead = max(self._longest_overhead, OVERHEAD_NS / max(shown_ns, 1.0))
        chosen, values = self._rng.randrange(SETS), setting.recombined(self._rng)
        candidate.fill(setting.index, chosen, values)
        if shown_ns < LONG_NS:
            # By the judge's clock: a runner that shows less than it takes is not called without end.
            count = max(1, int(MESSAGE_NS / median(c.judge_ns for c in race.clocks[candidate.name])))
            watch = partial(self._watch, candidate, count * shown_ns, LOOKS)
            candidate.burst(setting.index, chosen, values, count, sent=watch)
        else:
            for _ in range(LOOKS // PER_CALL):
                watch = partial(self._watch, candidate, shown_ns, PER_CALL)
                candidate.call(setting.index, chosen, values, clock="call", sent=watch)
        candidate.freeze()

    def verdict(self) -> str | None:
        """A sentence where more of the calls than allowed was in vendors' libraries."""
        limit = min(0.95, LARGEST_SHARE + self._longest_overhead)
        found, looks = self._found(), self._seen.total()
        if not looks or found / looks <= limit or _chance(found, looks, limit) > SURE:
            return None
        names = [Path(path).name for path, _ in self._seen.most_common() if is_vendor(path)]
        return f"{found} of {looks} looks into calls beside the timed ones found them in {', '.join(names[:4])}"

    def note(self) -> str:
        """What was seen, for whoever reads the verdict."""
        if not self._seen:
            return "no call could be looked into from outside: whose work it is, the candidate's own process says alone"
        return f"{self._found()} of {self._seen.total()} looks into calls from outside found them in vendors' libraries"

    def _found(self) -> int:
        return sum(count for path, count in self._seen.items() if is_vendor(path))

    def _watch(self, candidate: Participant, span_ns: float, looks: int) -> None:
        """While a call of about that length runs."""
        start = time.perf_counter_ns() + WAKE_NS
        for moment in sorted(self._rng.uniform(0, LATEST * span_ns) for _ in range(looks)):
            left = start + moment - time.perf_counter_ns()
            if left > 0:
                time.sleep(left / 1e9)
            stopped = time.perf_counter_ns()
            candidate.freeze()
            self._look(candidate.runner.init_pid)
            candidate.runner.thaw()
            start += time.perf_counter_ns() - stopped

    def _look(self, init: int) -> None:
        for pid in tree.descendants(init):
            places = [place for place in (_counter(pid, thread) for thread in tree.threads(pid)) if place is not None]
            if places:
                maps = _maps(pid)
                self._seen.update(_path_at(maps, place) for place in places)


def _chance(found: int, looks: int, limit: float) -> float:
    from scipy.stats import binomtest

    return float(binomtest(found, looks, limit, alternative="greater").pvalue)


def is_vendor(path: str) -> bool:
    """Whether the file is a library that does the work of others."""
    return ".so" in path and any(part in path.lower() for part in VENDORS)


def _counter(pid: int, thread: int) -> int | None:
    """The program counter of a stopped thread that was computing; None where it waited in the kernel."""
    said = tree.read(f"/proc/{pid}/task/{thread}/syscall").decode().split()
    return int(said[2], 16) if len(said) == 3 and said[0] == "-1" else None


def _maps(pid: int) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    try:
        text = Path(f"/proc/{pid}/maps").read_text(errors="replace")
    except OSError:
        return []
    for line in text.splitlines():
        parts = line.split(None, 5)
        first, last = (int(end, 16) for end in parts[0].split("-"))
        found.append((first, last, parts[5] if len(parts) > 5 else ""))
    return found


def _path_at(maps: list[tuple[int, int, str]], place: int) -> str:
    index = bisect_right(maps, place, key=lambda entry: entry[0]) - 1
    return maps[index][2] if index >= 0 and place < maps[index][1] else ""
