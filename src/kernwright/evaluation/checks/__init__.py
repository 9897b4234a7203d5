"""Checks, one file each. Source checks look at text; run checks call the candidate, and some (`fresh_constants`) are
made among its timed calls alone."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from kernwright.core.outcome import CheckResult
from kernwright.core.ports import SourceCheck
from kernwright.evaluation.trial import Trial

from .distributions import Distributions
from .entry import Entry
from .extremes import Extremes
from .forbidden import Forbidden
from .fresh_weights import FreshWeights
from .held_result import HeldResult
from .inputs_untouched import InputsUntouched
from .integers import Integers
from .outputs import Outputs
from .own_kernels import OwnKernels
from .repeatable import Repeatable
from .single_element import SingleElement
from .trained_weights import TrainedWeights
from .tripwires import Tripwires
from .two_forwards import TwoForwards


class RunCheck(Protocol):
    """Calls the candidate on one workload and says what it found."""

    name: str

    def verify(self, trial: Trial) -> CheckResult:
        """Raises `Ended` where the candidate does not survive a call."""


SOURCE_CHECKS: tuple[SourceCheck, ...] = (Entry(), Forbidden(), Tripwires())
RUN_CHECKS: tuple[RunCheck, ...] = (
    Outputs(),
    Repeatable(),
    SingleElement(),
    Extremes(),
    FreshWeights(),
    TrainedWeights(),
    Distributions(),
    Integers(),
    HeldResult(),
    TwoForwards(),
    OwnKernels(),
    InputsUntouched(),
)
"""In this order: the last one reports on all the calls before it."""
EMULATED_CHECKS: tuple[RunCheck, ...] = (Outputs(), InputsUntouched())
"""What is worth the time where something stands in for the device; the rest is for the device itself."""


def merge(results: Iterable[CheckResult]) -> list[CheckResult]:
    """One result per check from those of several workloads: failed where one failed, evidence at its largest."""
    merged: dict[str, CheckResult] = {}
    for result in results:
        known = merged.get(result.name)
        if known is None:
            merged[result.name] = result
            continue
        keys = {**known.evidence, **result.evidence}
        evidence = {k: max(e[k] for e in (known.evidence, result.evidence) if k in e) for k in keys}
        worse = result if known.passed and not result.passed else known
        merged[result.name] = replace(worse, evidence=evidence)
    return list(merged.values())
