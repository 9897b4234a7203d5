"""The A/A floor: how far equal kernels seem to differ on this machine, per size of call."""

import json
import math
import random
import time
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from kernwright.core.digest import digest_bytes
from kernwright.core.jobs import EvalJob

from .alone import alone
from .lineup import Lineup
from .setting import Setting
from .statistics import aa_floor, set_log_ratio
from .summary import CANDIDATE
from .timing import Track
from .workshop import Workshop

PAIRS = 6
"""Fresh pairs of processes behind a floor."""
PAIR_BLOCKS = 4

LASTS_S = 30 * 86400.0
LOUD, LOUD_LASTS_S = 0.05, 600.0
"""A floor above 5 % tells of other work on the machine more than of the machine, and is soon measured again."""


class _Known(TypedDict):
    at: float
    """Seconds since the epoch."""
    log_ratios: list[float]


class NoiseFloor:
    """Floors of one machine, measured once per decade of call time and kept on disk."""

    def __init__(self, shop: Workshop, job: EvalJob, cold: bool) -> None:
        name = digest_bytes(f"{shop.machine}/{job.plan.threads}/{cold}/{job.platform}".encode())
        self._path = Path(job.home) / "cache" / "noise" / f"{name}.json"
        self._shop, self._job, self._cold = shop, job, cold

    def at(self, setting: Setting, time_ns: float, rng: random.Random) -> tuple[float, ...]:
        """Log ratios of fresh pairs of eager processes at this size of call."""
        decade = str(round(math.log10(max(time_ns, 1.0))))
        known = self._known()
        if decade not in known or _expired(known[decade]):
            with alone(self._path):
                known = self._known()  # by now another process may have found it
                if decade not in known or _expired(known[decade]):
                    known[decade] = {"at": time.time(), "log_ratios": self._measure(setting, rng)}
                    partial = self._path.with_suffix(".partial")
                    partial.write_text(json.dumps(known))
                    partial.replace(self._path)
        return tuple(known[decade]["log_ratios"])

    def _known(self) -> dict[str, _Known]:
        return json.loads(self._path.read_text()) if self._path.exists() else {}

    def _measure(self, setting: Setting, rng: random.Random) -> list[float]:
        plan = replace(self._job.plan, blocks=PAIR_BLOCKS, compare="half")
        track = Track(self._shop.session, plan, rng, self._cold)
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


def _expired(known: _Known) -> bool:
    age = time.time() - known["at"]
    return age > (LASTS_S if aa_floor(known["log_ratios"], 1) <= LOUD else LOUD_LASTS_S)
