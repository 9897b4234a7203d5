"""What a kernel makes of the cases that the judge has for integers."""

import random
from collections.abc import Callable

import torch

from kernwright.evaluation.checks.integers import cases, compared
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.spending import Spending

Kernel = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def refused(setting: Setting, kernel: Kernel) -> set[str]:
    """Labels of the cases in which this kernel is wrong."""

    made = [case for seed in range(6) for case in cases(setting, random.Random(seed), Spending(60.0))]
    return {case.label for case in made if not compared(setting, case, [kernel(*case.values)]).passed}
