"""Gradients of a call after which another went forward, along what is one number everywhere."""

from functools import partial

import torch

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.errors.allowance import chains_of, unavoidable
from kernwright.evaluation.errors.breaking_ties import beside_any_choice
from kernwright.evaluation.errors.comparison import Verdict, compare
from kernwright.evaluation.errors.gross import size, vanishes
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.trial import Trial


class TwoForwards:
    """Threat model, B4: what is kept beside the graph is the later call's; directions of a sum have no memory of
    their own.

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
        verdict = trial.judge(
            trial.run(values, twice=True),
            case,
            lambda outputs: beside_any_choice(partial(_compared, outputs, base, trial), case, setting),
        )
        return CheckResult(name=self.name, passed=verdict.passed, detail=verdict.detail)


def _compared(outputs: list[torch.Tensor], base: Case, trial: Trial, case: Case) -> Verdict:
    """Along one number the gradient of what is normalised is nothing: there what is left of usual ones is right."""
    problem, names = trial.setting.reference.problem, trial.setting.names
    verdict = compare(outputs, case, problem, names)
    if verdict.passed:
        return verdict
    chains = chains_of(case, problem)
    along = max(size(d) for d in case.values[-len(trial.setting.reference.slopes(trial.setting.workload)) :])
    settled = [
        own
        if vanishes(true, usual) and size(got - own) <= unavoidable(problem, own.dtype, chain) * max(size(usual), along)
        else got
        for got, own, true, usual, chain in zip(outputs, case.native, case.oracle, base.native, chains, strict=True)
    ]
    return compare(settled, case, problem, names)
