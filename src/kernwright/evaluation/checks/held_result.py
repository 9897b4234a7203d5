"""A result that is kept must not change when the kernel is called again."""

import torch

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.cases import Case
from kernwright.evaluation.trial import Trial


class HeldResult:
    """JUDGE.md A18; allowed by `Rules.reuse_outputs`. Between the call whose result was kept and this are those of all
    other checks: more than the buffers that a candidate might take in turn."""

    name = "held_result"

    def verify(self, trial: Trial) -> CheckResult:
        first, held = trial.kept, trial.held()
        assert first is not None
        verdict = trial.judge(held, first)
        if not verdict.passed:
            verdict = trial.judge(_without_views(trial, held, first), first)
        if verdict.passed:
            return CheckResult(name=self.name, passed=True)
        if trial.rules.reuse_outputs:
            return CheckResult(
                name=self.name, passed=True, detail="an earlier result was overwritten; the rules allow it"
            )
        detail = f"a later call overwrote an earlier result: {verdict.detail}"
        return CheckResult(name=self.name, passed=False, detail=detail)


def _without_views(trial: Trial, outputs: list[torch.Tensor], case: Case) -> list[torch.Tensor]:
    """What is an input, or a view of one, by the reference too, changes with that."""
    values = case.values
    made = trial.setting.reference.outputs(trial.setting.model, values)
    owned = {v.untyped_storage().data_ptr() for v in values if isinstance(v, torch.Tensor) and v.numel()}
    views = [t.numel() > 0 and t.untyped_storage().data_ptr() in owned for t in made]
    return [own if view else got for got, own, view in zip(outputs, case.native, views, strict=True)]
