"""The A/A floor: how far equal kernels seem to differ on this machine, per size of call."""

import json
import math
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import NotRequired, TypedDict

from kernwright.core.digest import digest_bytes
from kernwright.core.jobs import EvalJob
from kernwright.evaluation.alone import alone, put
from kernwright.evaluation.lineup import Lineup
from kernwright.evaluation.participants.workshop import Workshop
from kernwright.evaluation.problem.setting import Setting

from .race import Race
from .statistics import aa_floor, set_log_ratio
from .summary import CANDIDATE, LOUD
from .track import Track

PAIRS = 6
"""Fresh pairs of processes behind a floor."""
PAIR_BLOCKS = 4

LASTS_S = 30 * 86400.0
LOUD_LASTS_S = 600.0
"""One that is `LOUD` is soon measured again."""


class _Known(TypedDict):
    at: float
    """Seconds since the epoch."""
    log_ratios: list[float]
    problem: NotRequired[str]
    """That whose eager calls it was measured with."""


class NoiseFloor:
    """Floors of one machine, measured once per decade of call time and kept on disk."""

    def __init__(self, shop: Workshop, job: EvalJob, cold: bool) -> None:
        name = kept_as(shop.machine, job.plan.threads, cold, job.platform)
        self._path = Path(job.home) / "cache" / "noise" / name
        self._shop, self._job, self._cold = shop, job, cold
        self.borrowed = False
        """Whether a loud one was another problem's."""

    def of(
        self, races: Sequence[Race], rng: random.Random, *, own: bool = False, old: bool = False
    ) -> dict[str, tuple[float, ...]]:
        """By workload log ratios of fresh pairs of eager processes at the size of these races' calls.

        `own`: of this problem's, if need be. `old`: also those that are to be measured again, where nothing depends on
        them.
        """
        return {
            race.setting.workload.name: self._at(race.setting, median(race.times_ns("eager")), rng, own=own, old=old)
            for race in races
        }

    def _at(self, setting: Setting, time_ns: float, rng: random.Random, *, own: bool, old: bool) -> tuple[float, ...]:
        decade, problem = str(round(math.log10(max(time_ns, 1.0)))), self._job.problem.id
        size = f"{decade} {problem}" if own else decade
        known = self._known()
        if size not in known or (_expired(known[size]) and not old):
            with alone(self._path):
                known = self._known()  # by now another process may have found it
                if size not in known or (_expired(known[size]) and not old):
                    ratios = self._measure(setting, rng)
                    known[size] = {"at": time.time(), "log_ratios": ratios, "problem": problem}
                    put(self._path, known)
        self.borrowed |= _loud(known[size]) and known[size].get("problem") != problem
        return tuple(known[size]["log_ratios"])

    def _known(self) -> dict[str, _Known]:
        return json.loads(self._path.read_text()) if self._path.exists() else {}

    def _measure(self, setting: Setting, rng: random.Random) -> list[float]:
        plan = replace(self._job.plan, blocks=PAIR_BLOCKS, compare="half")
        track = Track(self._shop.session, plan, rng, self._cold, probes=False)
        ratios = []
        lineup = Lineup(self._shop, self._job)
        for _ in range(PAIRS):
            with lineup.fresh(("eager", "eager"), [setting]) as (first, second):
                first.name, second.name = CANDIDATE, "eager"
                with self._shop.session.exclusive(undisturbed=True):
                    race = track.race(setting, (first, second), settle=False)
                with self._shop.session.shared():
                    track.compare_kept()
            ratios.append(set_log_ratio(race.times_ns(CANDIDATE), race.times_ns("eager")))
        return ratios


def kept_as(machine: str, threads: int, cold: bool, platform: str) -> str:
    """The name of the file that holds the floors of a machine: by decade of nanoseconds what a `NoiseFloor` gives."""
    return f"{digest_bytes(f'{machine}/{threads}/{cold}/{platform}'.encode())}.json"


def _loud(known: _Known) -> bool:
    return aa_floor(known["log_ratios"], 1) > LOUD


def _expired(known: _Known) -> bool:
    return time.time() - known["at"] > (LOUD_LASTS_S if _loud(known) else LASTS_S)
