"""References whose own results have no right digit, as of a chaotic system after many steps: whatever is about as large
passes for right beside them, and a speedup says nothing.
"""

import math
from collections.abc import Iterable

import torch

from kernwright.core.outcome import Suspicious
from kernwright.evaluation.ended import Ended
from kernwright.evaluation.errors.allowance import GROSS, Errors
from kernwright.evaluation.errors.nearness import stretches
from kernwright.evaluation.errors.random_rounding import rounded_at_random

from .setting import Setting

ZERO = 100.0
"""So many times its size is the error where the true result is 0 but for rounding, which `hollow_notes` names."""


def digitless(setting: Setting) -> dict[int, float]:
    """Outputs of which PyTorch's own result is off by more, beside its oracle, than an answer that leaves everything
    out would have to be: by an RMS error of a quarter of its RMS or more, which is given for each. And by as much
    beside what other rounding makes of it, unlike a choice of a sign, as of an eigenvector."""
    case = setting.bases[0]
    found = {n: _off(*pair) for n, pair in enumerate(zip(case.native, case.oracle, strict=True))}
    found = {number: off for number, off in found.items() if off > GROSS}
    other = next(rounded_at_random(case), None) if found else None
    return {n: off for n, off in found.items() if other is not None and _off(other[n], case.native[n]) > GROSS}


def require_digits(settings: Iterable[Setting]) -> list[str]:
    """A sentence for each timed workload some of whose outputs are such.

    Raises:
        Ended: all outputs of one are, and not because they are 0 but for rounding, so that no candidate could be told
            from another.
    """
    said = []
    for setting in settings:
        if setting.lean or setting.workload.held_out or not (found := digitless(setting)):
            continue
        said.append(sentence(setting, found))
        if len(found) == len(setting.output_shapes) and min(found.values()) < ZERO:
            raise Ended(Suspicious(reason=said[-1], timings=None))
    return said


def sentence(setting: Setting, found: dict[int, float]) -> str:
    """Says of which outputs it is so, and what to do."""
    which = " and ".join(f"output {number} (off by {off:.0%} of its size)" for number, off in found.items())
    return (
        f"the reference's own result has no right digit beside float64, on workload {setting.workload.name!r}: "
        f"{which}; nothing tells right from wrong there: make the problem shorter, or have it compute in float64"
    )


def _off(native: torch.Tensor, oracle: torch.Tensor) -> float:
    """0 of what is no floating number, or not finite."""
    if not (native.is_floating_point() or native.is_complex()):
        return 0.0
    errors = Errors()
    for own, true in stretches(native, oracle):
        errors.add(own, None, true)
    share = errors.error_squares / errors.size_squares if errors.size_squares > 0 else 0.0
    return math.sqrt(share) if 0 <= share < math.inf else 0.0
