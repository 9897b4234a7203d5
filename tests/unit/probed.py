"""What a kernel makes of the probes of one kind."""

import random
from collections.abc import Callable
from typing import Any

from kernwright.evaluation.probes.distributions import probes
from kernwright.evaluation.problem.setting import Setting


def verdicts(setting: Setting, kernel: Callable[..., Any], label: str, *, seeds: int = 3) -> list[bool]:
    """For each probe of this label, under so many seeds, whether the kernel is right."""
    found = (probe for seed in range(seeds) for probe in probes(setting, random.Random(seed)))
    return [probe.compare([kernel(*probe.case.values)]).passed for probe in found if probe.case.label == label]
