"""Probes that are made when their turn among the timed calls has come: of workloads so large that few or none of the
checks' could be kept."""

import random
from functools import partial

from kernwright.core.errors import UserError

from .checks.integers import cases, compared
from .distributions import any_probe
from .late_probes import Late
from .probe import Probe
from .reference import TooLarge, is_shortage
from .setting import Setting
from .shortage import NOTE, where_possible
from .spending import Spending

ENOUGH, ENOUGH_IN_A_HURRY = 8, 2
"""So many come in a race, those included that were kept; the latter where others wait for the device meanwhile."""


def made_late(setting: Setting, rng: random.Random, kept: int, *, hurried: bool) -> list[Late]:
    """What is missing of that many, where there was no room to keep them."""
    full = setting.lean or (setting.late is not None and setting.late.full)
    missing = (ENOUGH_IN_A_HURRY if hurried else ENOUGH) - kept
    return [partial(_made, setting, rng)] * missing if full else []


def _made(setting: Setting, rng: random.Random) -> Probe | None:
    try:
        return where_possible(setting.reference, partial(_any, setting, rng))
    except (UserError, MemoryError, RuntimeError) as error:
        if not isinstance(error, TooLarge) and not is_shortage(error):
            raise
        setting.reference.note(NOTE)  # the checks have asked others of its kind
        return None


def _any(setting: Setting, rng: random.Random) -> Probe | None:
    spending = Spending(slowed=setting.reference.place.slowed)
    integers = cases(setting, rng, spending) if setting.free and rng.random() < 0.5 else iter(())
    case = next(integers, None)
    if case is not None:
        return Probe(case, partial(compared, setting, case))
    return any_probe(setting, rng)
