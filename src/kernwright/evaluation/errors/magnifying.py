"""By how much other last digits of its inputs move a reference, in float64: the error that the best of algorithms may
make (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 1.6)."""

import random
from functools import partial
from typing import TYPE_CHECKING

import torch

from kernwright.evaluation.numbers import by_parts, chances, is_number
from kernwright.evaluation.problem.cases import Asked, Case, Values
from kernwright.evaluation.problem.shortage import where_possible

from .gross import largest_share

if TYPE_CHECKING:
    from kernwright.evaluation.problem.setting import Setting

TIMES, LEAST = 128.0, 1e-5
"""So many times as much as of a draw, as a share of the largest result, and so large a share at the least, is what
draws do not ask a reference for: an exponential of numbers sixty times as large moves by sixty times as much."""
_EVEN = 0.5
_SINGLE = torch.finfo(torch.float32).eps


def moved_oracle(case: Case, setting: "Setting", seed: int) -> list[torch.Tensor] | None:
    """What the oracle is of such values; None where nobody knows."""
    if not isinstance(case, Asked) or case.wide is None:
        return None
    rng = random.Random(seed)  # one for all: what has equal factors at equal places may be the same equation
    values: Values = [by_parts(partial(_moved, rng), v) if is_number(v) else v for v in case.values]
    values = setting.kept(values, case.values, apart=True)
    moved = where_possible(setting.reference, partial(case.wide, values))
    return moved if moved is not None and [t.shape for t in moved] == [t.shape for t in case.native] else None


def magnifies(case: Case, setting: "Setting", number: int) -> bool:
    """Whether it moves much more there than it does at a draw; `number`: of a try."""
    here = _share_moved(case, setting, case.seed + number)
    if here <= LEAST:
        return False
    draw = partial(_share_moved, setting.bases[0], setting, 0)
    return here > TIMES * setting.reference.known.once(setting.workload, "moved by last digits", draw)


def _share_moved(case: Case, setting: "Setting", seed: int) -> float:
    moved = moved_oracle(case, setting, seed)
    if moved is None:
        return 0.0
    pairs = [(got, true) for got, true in zip(moved, case.oracle, strict=True) if is_number(true)]
    return largest_share([got for got, _ in pairs], [true for _, true in pairs])


def _moved(rng: random.Random, value: torch.Tensor) -> torch.Tensor:
    """By one last digit, in float64; by no more than one of a float32, in which narrower numbers are worked on."""
    larger = chances(value, rng) < _EVEN
    last = min(_SINGLE, torch.finfo(value.dtype).eps)
    return value.double() * torch.where(larger, 1.0 + last, 1.0 - last).double()
