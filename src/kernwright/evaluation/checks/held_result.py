"""A result that is kept must not change when the kernel is called again."""

import torch

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.timing.lasting import not_given
from kernwright.evaluation.trial import Trial


class HeldResult:
    """Threat model, A18; allowed by `Rules.reuse_outputs`. Between the call whose result was kept and this are those of
    all other checks: more than the buffers that a candidate might take in turn.

    With `Rules.alias_inputs` the judge puts the inputs of that call back first, and no call follows: a view of one is
    again what it was, and a buffer stays as the latest call that wrote to it left it. No candidate's word, nor a
    runner's, says which results are views.
    """

    name = "held_result"

    def verify(self, trial: Trial) -> CheckResult:
        first, held = trial.kept(), trial.held(restored=trial.rules.alias_inputs)
        verdict = trial.judge(held, first)
        views = [False] * len(held)
        if not verdict.passed:
            views = [not own for own in not_given(trial.setting, first.values)]
            others = [own if view else got for got, own, view in zip(held, first.native, views, strict=True)]
            verdict = trial.judge(others, first)
        if verdict.passed:
            return CheckResult(name=self.name, passed=True)
        if trial.rules.reuse_outputs:
            return CheckResult(
                name=self.name, passed=True, detail="an earlier result was overwritten; the rules allow it"
            )
        detail = _aliased(trial, first, views) or f"a later call overwrote an earlier result: {verdict.detail}"
        return CheckResult(name=self.name, passed=False, detail=detail)


def _aliased(trial: Trial, case: Case, views: list[bool]) -> str:
    """What is said where an output that is no view by the reference shares memory with an input; else nothing.

    Raises `Ended` where the candidate does not survive a call more.
    """
    if trial.rules.alias_inputs:
        return ""
    tensors = [number for number, value in enumerate(case.values) if isinstance(value, torch.Tensor) and value.numel()]
    found = [output for output in trial.moving_with(case, tensors) if not views[output]]
    if not found:
        return ""
    output = found[0]
    for number in tensors:
        if output in trial.moving_with(case, [number]):
            return f"output {output} shares memory with input {number}; return a copy, or allow it by alias_inputs=yes"
    return ""
