"""Looks into calls from outside: the judge stops a runner in the middle of one and reads where its threads are."""

import random
import time
from collections.abc import Callable, Sequence
from functools import partial

from kernwright.evaluation.participants.laying_out import SETS
from kernwright.evaluation.participants.participant import Participant

from .places import Place, running
from .race import Race
from .sightings import Sightings, together

LOOKS = 6
"""Beside each block of samples."""
ENOUGH, LEAST, SELDOM = 48, 24, 0.25
"""After so many looks at all workloads together, and the least at each, only some blocks are followed by more, where
few of them found a vendor's library. Not so many at each as at all: a call that is a vendor's all through shows by
fewer than the least, and on a busy machine, where most looks come too late, each costs the time of several.
"""
FEW = 0.5
"""Of what is allowed."""
ROUNDS = 16
"""Of further looks at all workloads, after which a candidate that is not surely beyond the limit passes."""
SETTLE_S, LIKELY_S = 12.0, 40.0
"""How long further looks may take, and while they hint at more than is allowed.

A busy machine wakes the judge too late for most of them.
"""
SURE, DOUBTFUL, UNLIKELY = 1e-4, 0.05, 0.5
"""Probability at which a kernel within the limit is refused, and where no more looks are to be had, doubted; and at
which they hint at more. It is that of the worst workload, times how many were asked: who has many is not refused more
often.
"""
LONG_NS = 500_000
"""From here on single calls are looked into, which nothing tells from timed ones; below, calls of one message."""
PER_CALL = 3
MESSAGE_NS = 20_000_000
WAKE_NS = 60_000
"""What a message and its waking up take."""
LATEST = 0.85
"""Part of a call's time after which no look begins: its end is followed by the harness's own copying."""
MOST = 0.5
"""Of the time that calls take. Where their message takes less processor time, as where that of children that ended
counts as nobody's (SA_NOCLDWAIT), it says nothing of how far they are.
"""
PATIENCE, PATIENCE_S = 30, 0.1
"""A look is given up where a call does not get so far in so many times its time, and this beside it."""


class Onlooker:
    """Counts where the working threads of a candidate are, in calls between the blocks of its races."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._filling: frozenset[int] | None = None
        """Functions of vendors' libraries that only fill memory; None where nobody has asked for them."""
        self._sightings: dict[str, Sightings] = {}
        """By workload: calls of one are not hidden among those of others, nor is much allowed to it for their sake."""
        self._spent_ns: dict[int, float] = {}
        """Processor time of one message, by workload: where the machine is busy, less than its calls show.

        0 where it was less after a message than while it ran.
        """
        self._took_ns: dict[int, float] = {}
        """How long one message took at the least, by workload."""
        self._most_ns = 0
        """Processor time that a runner had while its message ran, as far as it was looked at."""

    def after_block(self, race: Race, candidate: Participant) -> None:
        """Have the candidate called as it was called for its samples, and look into that."""
        shown_ns = min(race.times_ns(candidate.name))  # others' work on the machine lengthens the rest
        name = race.setting.workload.name
        mine = self._into(name)
        mine.shown(shown_ns)
        if mine.looks < self._wanted() or self._doubts(name) or self._rng.random() < SELDOM:
            self._look_into(race, candidate, shown_ns)

    def settle(self, races: Sequence[Race], candidate: Participant, learn: Callable[[], frozenset[int]]) -> None:
        """Look on while what was seen is little, or neither clearly within the limit nor surely beyond it.

        `learn`: which functions of vendors' libraries only fill memory, which takes seconds; asked where it matters.
        """
        self._leave_filling_out(learn)
        rounds, start = 0, time.monotonic()
        # Where nothing can be read, what was seen is always within the limit.
        while time.monotonic() - start < (SETTLE_S if self._likely_within() else LIKELY_S):
            enough = all(each.looks >= self._wanted() for each in self._sightings.values())
            if self.verdict() is not None or (
                enough and (rounds >= ROUNDS or not any(map(self._doubts, self._sightings)))
            ):
                break
            rounds += enough
            for race in races:
                self.after_block(race, candidate)
            self._leave_filling_out(learn)

    def _leave_filling_out(self, learn: Callable[[], frozenset[int]]) -> None:
        if self._filling is None and any(map(self._hints, self._sightings)):
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
            start = self._most_ns = candidate.runner.cpu_ns()
            began_ns = time.monotonic_ns()
            if short:
                candidate.burst(setting.index, chosen, values, count, sent=sent)
            else:
                candidate.call(setting.index, chosen, values, clock="call", sent=sent)
            took_ns, end = float(time.monotonic_ns() - began_ns), candidate.runner.cpu_ns()
            self._took_ns[setting.index] = min(self._took_ns.get(setting.index, took_ns), took_ns)
            spent_ns = float(end - start) if end >= self._most_ns else 0.0
            self._spent_ns[setting.index] = min(self._spent_ns.get(setting.index, spent_ns), spent_ns)

        if setting.index not in self._spent_ns:
            send()
        for _ in range(1 if short else LOOKS // PER_CALL):
            # Calls of one message, whose inputs lie in the caches, may take less than they show.
            span_ns, spent_ns = min(count * shown_ns, self._took_ns[setting.index]), self._spent_ns[setting.index]
            watch = partial(self._watch, race, candidate, LOOKS if short else PER_CALL)
            if spent_ns < MOST * span_ns:
                send(partial(watch, span_ns, by_wall=True))
            else:
                send(partial(watch, min(span_ns, spent_ns)))
        candidate.freeze()

    def _wanted(self) -> int:
        """Looks at each workload."""
        return max(LEAST, ENOUGH // max(1, len(self._sightings)))

    def _tested(self) -> list[Sightings]:
        """Of each workload, and of all: what is a little too much everywhere shows there first."""
        each = list(self._sightings.values())
        return [*each, together(each)] if len(each) > 1 else each

    def _doubts(self, workload: str) -> bool:
        return self._hints(workload) and self.verdict() is None

    def _hints(self, workload: str) -> bool:
        those, filling = self._sightings[workload], self._known()
        return those.found(filling) > FEW * those.limit * those.looks

    def saw(self, places: Sequence[Place], workload: str = "") -> None:
        """Take note of a look: where threads were that computed."""
        if places:
            self._into(workload).seen[tuple(places)] += 1

    def _into(self, workload: str) -> Sightings:
        return self._sightings.setdefault(workload, Sightings(f" of workload {workload!r}"))

    def _known(self) -> frozenset[int]:
        return self._filling or frozenset()

    def verdict(self) -> str | None:
        """A sentence where more of the calls than allowed was in vendors' libraries."""
        chance, worst = self._worst()
        return self._finding(worst) if chance <= SURE else None

    def doubt(self) -> str | None:
        """A sentence where that is likely, but all looks there was time for do not make it sure."""
        chance, worst = self._worst()
        if chance > DOUBTFUL:
            return None
        said = f"{self._finding(worst)}, which is likely too much, not surely"
        return f"{said}: judge it again when the machine is quieter"

    def _finding(self, those: Sightings) -> str:
        filling = self._known()
        looks = f"{those.found(filling)} of {those.looks} looks into calls{self._which(those)} beside the timed ones"
        return f"{looks} found them in {those.names(filling)}"

    def _which(self, those: Sightings) -> str:
        return those.of if len(self._sightings) > 1 else ""

    def _worst(self) -> tuple[float, Sightings]:
        """That a kernel within the limits is found beyond one so often, at the most; and beyond which."""
        tested, filling = self._tested(), self._known()
        # Of those that are not beyond their limits, the one where most was found, for the note.
        key = {id(one): (one.chance(filling), -one.found(filling) / max(1, one.looks)) for one in tested}
        worst = min(tested, key=lambda one: key[id(one)], default=Sightings())
        return min(1.0, worst.chance(filling) * max(1, len(tested))), worst

    def _likely_within(self) -> bool:
        """Whether looks, where there were any, do not hint at more than is allowed."""
        return self._worst()[0] > UNLIKELY

    def note(self) -> str:
        """What was seen, for whoever reads the verdict: of the workload where it is most."""
        _, worst = self._worst()
        if not worst.looks:
            return "no call could be looked into from outside: whose work it is, the candidate's own process says alone"
        filling = self._known()
        looks = f"{worst.found(filling)} of {worst.looks} looks into calls{self._which(worst)} from outside"
        said, fills = f"{looks} found them in vendors' libraries", worst.only_fill(filling)
        return f"{said}, and {fills} where these only fill memory" if fills else said

    def _watch(self, race: Race, candidate: Participant, looks: int, span_ns: float, *, by_wall: bool = False) -> None:
        """While a call of about that length runs. Moments are of its own processor time: a core may be others' too.

        `by_wall`: of the time that passes, in which a busy machine may let it do less. No call ends sooner than that.
        """
        runner = candidate.runner

        def now() -> int:
            used_ns = runner.cpu_ns()
            self._most_ns = max(self._most_ns, used_ns)
            return time.monotonic_ns() - stood_ns if by_wall else used_ns

        stood_ns = 0
        sent, deadline = now(), time.monotonic() + PATIENCE * span_ns / 1e9 + PATIENCE_S
        start, latest = sent + WAKE_NS, sent + WAKE_NS + LATEST * span_ns
        for moment in sorted(self._rng.uniform(start, latest) for _ in range(looks)):
            while (left := moment - now()) > 0:
                if runner.replied() or time.monotonic() > deadline:
                    return
                time.sleep(left / 1e9)
            candidate.freeze()
            stopped = time.monotonic_ns()
            # A judge that was woken late would see the harness at work.
            if now() <= (sent + span_ns if by_wall else latest) and not runner.replied():
                self.saw(running(runner.init_pid), race.setting.workload.name)
            runner.thaw()
            stood_ns += time.monotonic_ns() - stopped
