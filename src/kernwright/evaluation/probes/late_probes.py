"""Probes among the timed calls: who is right until the checks seem to be over is not right then.

Most are kept from the checks, so that nobody remembers their answers; the others come once more.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.footprint import LEAST_LATE, late_probe_bytes, nbytes_of
from kernwright.evaluation.timing.statistics import ABBA

if TYPE_CHECKING:
    from kernwright.evaluation.problem.setting import Setting
    from kernwright.evaluation.trial import Trial

    from .probe import Probe

MOST, HELD_BACK = 24, 0.85
"""Of a workload so many are kept of either kind, and such a share is kept from the checks: of these the first few,
whatever they weigh (`LEAST_LATE`)."""
LATER = 1 / 3
"""Share of a race's probes that come after the blocks of the plan, where there may be more."""


Late = Callable[[], "Probe | None"]
"""Gives a probe when its turn has come."""


class LateProbes:
    """Of one workload, as many as there is room for; which ones only chance says."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes, self._bytes, self._offered = most_bytes, 0, 0
        self.unseen: list[Probe] = []
        """The candidate was not asked."""
        self.seen: list[Probe] = []
        """It was asked, and right."""
        self.full = False
        """Whether there was no room for one."""

    def exchanged(self, probe: "Probe", rng: random.Random) -> "Probe | None":
        """What the checks are to ask: this one, or nothing, or another one, instead of which it is kept from them.

        So the last ones are kept as often as the first (Vitter, "Random sampling with a reservoir", 1985).
        """
        if rng.random() >= HELD_BACK:
            return probe
        self._offered += 1
        if self._kept(probe, self.unseen, LEAST_LATE):
            return None
        if (place := rng.randrange(self._offered)) < len(self.unseen):
            self.unseen[place], probe = probe, self.unseen[place]
        return probe

    def remember(self, probe: "Probe") -> None:
        """Keep one that the candidate stood, where there is room."""
        self._kept(probe, self.seen, 0)

    def _kept(self, probe: "Probe", among: list["Probe"], least: int) -> bool:
        nbytes = late_probe_bytes(nbytes_of(probe.case.values), nbytes_of(probe.case.native))
        if len(among) >= MOST:
            return False
        if self._bytes + nbytes > self._most_bytes and len(among) >= least:
            self.full = True
            return False
        among.append(probe)
        self._bytes += nbytes
        return True


def asked(trial: "Trial", probe: "Probe") -> Verdict:
    """Whether the candidate stands a probe, or another one where this is kept for later.

    One that is kept counts as a case already: the blocks that every plan has ask them all.

    Raises:
        Ended: it does not survive that.
    """
    trial.give_way()  # of many in a row none is asked
    late = trial.setting.late
    one = probe if late is None else late.exchanged(probe, trial.rng)
    if one is None:
        return Verdict(passed=True, ratio=0.0)
    verdict = trial.judge(trial.run_case(one.case), one.case, one.compare)
    if verdict.passed and late is not None:
        late.remember(one)
    return verdict


def forget_probes(settings: Iterable["Setting"]) -> None:
    """All that are kept: they hold the setting that holds them, and with it memory of the device's."""
    for setting in settings:
        setting.late = None


class LateTurns:
    """When each probe comes: before which samples of a race, of which there are `ABBA` in a block."""

    def __init__(self, probes: Sequence[Late], blocks: int, rng: random.Random, *, more: bool) -> None:
        """`blocks`: of the plan; `more`: whether others may follow these, whose number nobody knows yet."""
        self._blocks, self._rng = blocks, rng
        order = rng.sample(probes, len(probes))
        kept = round(LATER * len(order)) if more else 0
        self._rest = order[:kept]
        self._turns = _among(order[kept:], ABBA * blocks, rng)
        self._others = self._dealt(0)

    def before(self, block: int, turn: int) -> Sequence[Late]:
        """What comes before a sample."""
        at = ABBA * block + turn
        return self._turns[at] if at < len(self._turns) else ()

    def others(self, block: int, turn: int) -> int:
        """How many calls come before a sample of somebody else's: as many in all, at turns of their own, since a
        candidate sees how long others take, and must not learn from that what it is asked next."""
        at = ABBA * block + turn
        return self._others[at] if at < len(self._others) else 0

    def go_on(self, blocks: int) -> Sequence[Late]:
        """Deal the rest to blocks beyond the plan; what is left where there are none, which comes at once then."""
        rest, self._rest, more = self._rest, [], blocks - self._blocks
        if more <= 0:
            return rest
        begin = len(self._turns)
        self._turns += _among(rest, ABBA * more, self._rng)
        self._others += self._dealt(begin)
        return ()

    def _dealt(self, begin: int) -> list[int]:
        counts = [len(turn) for turn in self._turns[begin:]]
        return self._rng.sample(counts, len(counts))


def _among(probes: Sequence[Late], turns: int, rng: random.Random) -> list[list[Late]]:
    found: list[list[Late]] = [[] for _ in range(turns)]
    for probe in probes:
        found[rng.randrange(turns)].append(probe)
    return found


def kept_probes(setting: "Setting", rng: random.Random, most: int | None) -> list[Late]:
    """Those of a workload: what checks were kept from, and what they asked, which comes again; `most` of them, where
    others wait meanwhile, of the former first."""
    late = setting.late
    probes = [] if late is None else [*_shuffled(late.unseen, rng), *_shuffled(late.seen, rng)]
    return [partial(_itself, probe) for probe in probes[:most]]


def _shuffled(probes: Sequence["Probe"], rng: random.Random) -> list["Probe"]:
    return rng.sample(probes, len(probes))


def _itself(probe: "Probe") -> "Probe":
    return probe
