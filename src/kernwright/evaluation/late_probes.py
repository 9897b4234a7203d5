"""Probes among the timed calls: who is right until the checks seem to be over is not right then.

Half of them are kept from the checks, so that nobody remembers their answers. A process that no check has called gets
the others too.
"""

import random
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .comparison import Verdict
from .footprint import nbytes_of

if TYPE_CHECKING:
    from .probe import Probe
    from .setting import Setting
    from .trial import Trial

MOST, HELD_BACK = 24, 0.5
"""Of a workload so many are kept of either kind, and such a share is kept from the checks."""
WITH_ORACLE = 3
"""Results, and the same in a wider type, take so many times as much memory as the former."""


class LateProbes:
    """Of one workload, as many as there is room for; which ones only chance says."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes, self._bytes, self._offered = most_bytes, 0, 0
        self.unseen: list[Probe] = []
        """The candidate was not asked."""
        self.seen: list[Probe] = []
        """It was asked, and right."""

    def exchanged(self, probe: "Probe", rng: random.Random) -> "Probe | None":
        """What the checks are to ask: this one, or nothing, or another one, instead of which it is kept from them.

        So the last ones are kept as often as the first (Vitter, "Random sampling with a reservoir", 1985).
        """
        if rng.random() >= HELD_BACK:
            return probe
        self._offered += 1
        if self._kept(probe, self.unseen):
            return None
        if (place := rng.randrange(self._offered)) < len(self.unseen):
            self.unseen[place], probe = probe, self.unseen[place]
        return probe

    def remember(self, probe: "Probe") -> None:
        """Keep one that the candidate stood, where there is room."""
        self._kept(probe, self.seen)

    def _kept(self, probe: "Probe", among: list["Probe"]) -> bool:
        nbytes = nbytes_of(probe.case.values) + WITH_ORACLE * nbytes_of(probe.case.native)
        if len(among) >= MOST or self._bytes + nbytes > self._most_bytes:
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


def among(probes: Sequence["Probe"], turns: int, rng: random.Random) -> list[list["Probe"]]:
    """Which of them come at each of so many turns; all in any order."""
    found: list[list[Probe]] = [[] for _ in range(turns)]
    for probe in rng.sample(probes, len(probes)):
        found[rng.randrange(turns)].append(probe)
    return found
