"""Looks into calls from outside: the judge stops a runner in the middle of one and reads where its threads are."""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from kernwright.evaluation.participants.laying_out import SETS
from kernwright.evaluation.participants.participant import Participant

from .places import Place, is_vendor, running
from .race import Race

LARGEST_SHARE = 0.3
"""Of a call's time in vendors' libraries: more than the tenth asked of operators, for allocating counts."""
OVERHEAD_NS = 10_000
"""What a call may take of them beside that: making a tensor, asking for its size."""
LOOKS = 6
"""Beside each block of samples."""
ENOUGH, SELDOM = 48, 0.25
"""After so many looks only some blocks are followed by more, where few of them found a vendor's library."""
FEW = 0.5
"""Of what is allowed."""
ROUNDS = 16
"""Of further looks at all workloads, after which a candidate that is not surely beyond the limit passes."""
SETTLE_S, LIKELY_S = 12.0, 40.0
"""How long further looks may take, and while they hint at more than is allowed.

A busy machine wakes the judge too late for most of them.
"""
SURE, DOUBTFUL = 1e-4, 0.05
"""Probability at which a kernel within the limit is refused, and where no more looks are to be had, doubted."""
LONG_NS = 500_000
"""From here on single calls are looked into, which nothing tells from timed ones; below, calls of one message."""
PER_CALL = 3
MESSAGE_NS = 20_000_000
WAKE_NS = 60_000
"""What a message and its waking up take."""
LATEST = 0.85
"""Part of a call's time after which no look begins: its end is followed by the harness's own copying."""
PATIENCE, PATIENCE_S = 30, 0.1
"""A look is given up where a call does not get so far in so many times its time, and this beside it."""


class Onlooker:
    """Counts where the working threads of a candidate are, in calls between the blocks of its races."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._filling: frozenset[int] | None = None
        """Functions of vendors' libraries that only fill memory; None where nobody has asked for them."""
        self._seen: Counter[tuple[Place, ...]] = Counter()
        """Looks, each by where the threads were."""
        self._spent_ns: dict[int, float] = {}
        """Processor time of one message, by workload: where the machine is busy, less than its calls show."""
        self._longest_overhead = 0.0

    def after_block(self, race: Race, candidate: Participant) -> None:
        """Have the candidate called as it was called for its samples, and look into that."""
        shown_ns = min(race.times_ns(candidate.name))  # others' work on the machine lengthens the rest
        self._longest_overhead = max(self._longest_overhead, OVERHEAD_NS / max(shown_ns, 1.0))
        if self._seen.total() < ENOUGH or self._doubts() or self._rng.random() < SELDOM:
            self._look_into(race, candidate, shown_ns)

    def settle(self, races: Sequence[Race], candidate: Participant, learn: Callable[[], frozenset[int]]) -> None:
        """Look on while what was seen is little, or neither clearly within the limit nor surely beyond it.

        `learn`: which functions of vendors' libraries only fill memory, which takes seconds; asked where it matters.
        """
        self._leave_filling_out(learn)
        rounds, start = 0, time.monotonic()
        # Where nothing can be read, what was seen is always within the limit.
        while time.monotonic() - start < (SETTLE_S if self._likely_within() else LIKELY_S):
            enough = self._seen.total() >= ENOUGH
            if self.verdict() is not None or (enough and (rounds >= ROUNDS or not self._doubts())):
                break
            rounds += enough
            for race in races:
                self.after_block(race, candidate)
            self._leave_filling_out(learn)

    def _leave_filling_out(self, learn: Callable[[], frozenset[int]]) -> None:
        if self._filling is None and self._hints():
            self._filling = learn()

    def _look_into(self, race: Race, candidate: Participant, shown_ns: float) -> None:
        setting = race.setting
        kind = race.any_kind(self._rng)
        chosen, values = self._rng.randrange(SETS), setting.mixed(setting.recombined(self._rng), kind, self._rng)
        candidate.fill(setting.index, chosen, values)
        short = shown_ns < LONG_NS
        # By the judge's clock: a runner that shows less than it takes is not called without end. The least, else a
        # message on a busy machine holds so few calls that it is the harness at work that is seen.
        count = max(1, int(MESSAGE_NS / min(c.judge_ns for c in race.clocks[candidate.name]))) if short else 1

        def send(sent: Callable[[], None] | None = None) -> None:
            start = candidate.runner.cpu_ns()
            if short:
                candidate.burst(setting.index, chosen, values, count, sent=sent)
            else:
                candidate.call(setting.index, chosen, values, clock="call", sent=sent)
            spent_ns = float(candidate.runner.cpu_ns() - start)
            self._spent_ns[setting.index] = min(self._spent_ns.get(setting.index, spent_ns), spent_ns)

        if setting.index not in self._spent_ns:
            send()
        for _ in range(1 if short else LOOKS // PER_CALL):
            span_ns = min(count * shown_ns, self._spent_ns[setting.index])
            send(partial(self._watch, candidate, span_ns, LOOKS if short else PER_CALL))
        candidate.freeze()

    def _doubts(self) -> bool:
        return self._hints() and self.verdict() is None

    def _hints(self) -> bool:
        return self._found() > FEW * self._limit() * self._seen.total()

    def _limit(self) -> float:
        return min(0.95, LARGEST_SHARE + self._longest_overhead)

    def saw(self, places: Sequence[Place]) -> None:
        """Take note of a look: where threads were that computed."""
        if places:
            self._seen[tuple(places)] += 1

    def _vendors(self, places: Sequence[Place]) -> list[Place]:
        """Where threads had others' work done.

        One is enough for a look, else others that only keep busy would be a way to hide it.
        """
        filling = self._filling or frozenset()
        return [each for each in places if is_vendor(each.path) and each.function not in filling]

    def verdict(self) -> str | None:
        """A sentence where more of the calls than allowed was in vendors' libraries."""
        return self._finding() if self._chance() <= SURE else None

    def doubt(self) -> str | None:
        """A sentence where that is likely, but all looks there was time for do not make it sure."""
        if self._chance() > DOUBTFUL:
            return None
        return f"{self._finding()}, which is likely too much, not surely: judge it again when the machine is quieter"

    def _finding(self) -> str:
        found, looks, names = self._found(), self._seen.total(), Counter[str]()
        for places, count in self._seen.items():
            names.update({Path(each.path).name: count for each in self._vendors(places)[:1]})
        most = ", ".join(name for name, _ in names.most_common(4))
        return f"{found} of {looks} looks into calls beside the timed ones found them in {most}"

    def _chance(self) -> float:
        """That a kernel at the limit is found in vendors' libraries so often."""
        limit, found, looks = self._limit(), self._found(), self._seen.total()
        return _tail(found, looks, limit) if looks and found / looks > limit else 1.0

    def _likely_within(self) -> bool:
        """Whether looks, where there were any, do not hint at more than is allowed."""
        return self._found() <= self._limit() * self._seen.total()

    def note(self) -> str:
        """What was seen, for whoever reads the verdict."""
        if not self._seen:
            return "no call could be looked into from outside: whose work it is, the candidate's own process says alone"
        said = f"{self._found()} of {self._seen.total()} looks into calls from outside found them in vendors' libraries"
        filling = sum(count for places, count in self._seen.items() if self._only_fills(places))
        return f"{said}, and {filling} where these only fill memory" if filling else said

    def _found(self) -> int:
        return sum(count for places, count in self._seen.items() if self._vendors(places))

    def _only_fills(self, places: Sequence[Place]) -> bool:
        return any(is_vendor(each.path) for each in places) and not self._vendors(places)

    def _watch(self, candidate: Participant, span_ns: float, looks: int) -> None:
        """While a call of about that length runs. Moments are of its own processor time: a core may be others' too."""
        runner = candidate.runner
        start, deadline = runner.cpu_ns() + WAKE_NS, time.monotonic() + PATIENCE * span_ns / 1e9 + PATIENCE_S
        latest = start + LATEST * span_ns
        for moment in sorted(self._rng.uniform(start, latest) for _ in range(looks)):
            while (left := moment - runner.cpu_ns()) > 0:
                if runner.replied() or time.monotonic() > deadline:
                    return
                time.sleep(left / 1e9)
            candidate.freeze()
            # A judge that was woken late would see the harness at work.
            if runner.cpu_ns() <= latest and not runner.replied():
                self.saw(running(runner.init_pid))
            runner.thaw()


def _tail(found: int, looks: int, limit: float) -> float:
    from scipy.stats import binomtest

    return float(binomtest(found, looks, limit, alternative="greater").pvalue)
