"""Probes that are made when their turn among the timed calls has come: of workloads so large that few or none of the
checks' could be kept."""

import random
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice

from kernwright.core.errors import UserError
from kernwright.evaluation.checks.integers import cases, compared
from kernwright.evaluation.problem.reference import TooLarge, is_shortage
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import NOTE, where_possible
from kernwright.evaluation.problem.spending import Spending

from .distributions import probes_in_any_order
from .late_probes import Late
from .probe import Probe

ENOUGH, ENOUGH_IN_A_HURRY = 12, 2
"""So many come in a race, those included that were kept; the latter where others wait for the device meanwhile."""


def made_late(setting: Setting, rng: random.Random, kept: int, *, hurried: bool) -> list[Late]:
    """What is missing of that many, where there was no room to keep them."""
    full = setting.lean or (setting.late is not None and setting.late.full)
    missing = (ENOUGH_IN_A_HURRY if hurried else ENOUGH) - kept
    return [partial(_next, setting, _in_turn(setting, rng))] * missing if full else []


def _next(setting: Setting, probes: Iterator[Probe]) -> Probe | None:
    try:
        return where_possible(setting.reference, partial(next, probes, None))
    except (UserError, MemoryError, RuntimeError) as error:
        if not isinstance(error, TooLarge) and not is_shortage(error):
            raise
        setting.reference.note(NOTE)  # the checks have asked others of its kind
        return None


def _in_turn(setting: Setting, rng: random.Random) -> Iterator[Probe]:
    """Of integers and of all else, as chance says, none twice."""
    spending = Spending(slowed=setting.reference.place.slowed)
    integers = (Probe(case, partial(compared, setting, case)) for case in cases(setting, rng, spending))
    others = probes_in_any_order(setting, rng)
    while True:
        kinds = [integers, others] if setting.free and rng.random() < 0.5 else [others, integers]
        found = [*islice(chain(*kinds), 1)]
        if not found:
            return
        yield found.pop()  # there may be no room for two
