"""What values leave open whose last digits are others: where a reference magnifies these nobody can be asked for more.

Inputs that the judge makes up may break what all draws keep to, as matrices whose diagonals outweigh their rows: a
result is then as large as a difference of nearly equal numbers is small, and by how much two right orders of the same
operations differ there is chance. Where a reference magnifies nothing this excuses nothing.
"""

from dataclasses import replace

import torch

from kernwright.evaluation.numbers import is_number
from kernwright.evaluation.problem.cases import Asked, Case
from kernwright.evaluation.problem.setting import Setting

from .allowance import FLOOR
from .choices import compare_chosen
from .comparison import Verdict
from .gross import is_bearable, largest_share, merely_unstable
from .magnifying import magnifies, moved_oracle

TRIES = 6
"""So often values are moved, each number to either side by chance."""
STEPS = 4.0
"""A last digit is lost in each step of an algorithm, and magnified by what follows."""


def excused(verdict: Verdict, outputs: list[torch.Tensor], case: Case, setting: Setting) -> Verdict:
    """The verdict, or that beside an error a few times as large as other last digits of the inputs make the oracle's.

    Where these are magnified far more than those of draws, digits may be lost; nobody is asked for what PyTorch does
    not know itself. Nothing is excused by an error that is a leap, as of a comparison that fell out otherwise.
    """
    if verdict.passed or not isinstance(case, Asked) or case.wide is None:
        return verdict
    found = [moved_oracle(case, setting, case.seed + number) for number in range(TRIES)]
    known = [each for each in found if each is not None]
    if not known:
        return verdict
    most = [_furthest(list(moved), true) for *moved, true in zip(*known, case.oracle, strict=True)]
    if largest_share(most, case.oracle) <= FLOOR:
        native = [_beside(*each) for each in zip(most, case.native, case.oracle, strict=True)]
        beside = compare_chosen(outputs, replace(case, native=native), setting)
        if beside.passed:
            return beside
    if not is_bearable(case.native, case.oracle):
        return Verdict(passed=True, ratio=1.0)
    lost = merely_unstable(outputs, case.native, case.oracle)
    return Verdict(passed=True, ratio=1.0) if lost and magnifies(case, setting, number=0) else verdict


def _furthest(moved: list[torch.Tensor], true: torch.Tensor) -> torch.Tensor:
    """Of each number the result that is furthest off."""
    if not is_number(true):
        return true
    most = moved[0]
    for other in moved[1:]:
        most = torch.where((other - true).abs() > (most - true).abs(), other, most)
    return most


def _beside(most: torch.Tensor, own: torch.Tensor, true: torch.Tensor) -> torch.Tensor:
    return (true + STEPS * (most - true)).to(own.dtype) if is_number(own) else own
