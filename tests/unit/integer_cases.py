"""What a kernel makes of the cases that the judge has for integers."""

import random
from collections.abc import Callable
from types import SimpleNamespace

import torch

from kernwright.evaluation.cases import Case
from kernwright.evaluation.checks.integers import _verdict, cases
from kernwright.evaluation.comparison import Verdict, compare
from kernwright.evaluation.setting import Setting
from kernwright.evaluation.spending import Spending

Kernel = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def refused(setting: Setting, kernel: Kernel) -> set[str]:
    """Labels of the cases in which this kernel is wrong."""

    def judge(outputs: list[torch.Tensor], case: Case) -> Verdict:
        return compare(outputs, case, setting.reference.problem, setting.names)

    trial = SimpleNamespace(run_case=lambda case: [kernel(*case.values)], setting=setting, rng=random.Random(3))
    made = [case for seed in range(4) for case in cases(setting, random.Random(seed), Spending(60.0))]
    return {case.label for case in made if not _verdict(trial, judge, case).passed}  # type: ignore[arg-type]
