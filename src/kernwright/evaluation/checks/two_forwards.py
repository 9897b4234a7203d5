"""Gradients of a call after which another went forward, along what is one number everywhere."""

import torch

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.reference import Values
from kernwright.evaluation.trial import Trial


class TwoForwards:
    """JUDGE.md B4: what is kept beside the graph is the later call's; directions of a sum have no memory of their own.

    Allowed by `Rules.reuse_outputs`, as results of earlier calls are.
    """

    name = "two_forwards"

    def verify(self, trial: Trial) -> CheckResult:
        setting = trial.setting
        count = len(setting.reference.slopes(setting.workload))
        if count == 0 or trial.rules.reuse_outputs:
            return CheckResult(name=self.name, passed=True)
        base = trial.rng.choice(setting.bases)
        values: Values = list(base.values)
        values[-count:] = [torch.full_like(d, trial.rng.uniform(0.5, 2.0)) for d in values[-count:]]
        case = setting.case(values, "two calls forward, then back along one number", base.seed)
        verdict = trial.judge(trial.run(values, twice=True), case)
        return CheckResult(name=self.name, passed=verdict.passed, detail=verdict.detail)
