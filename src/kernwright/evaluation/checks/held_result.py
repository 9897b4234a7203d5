"""A result that is kept must not change when the kernel is called again."""

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.trial import Trial


class HeldResult:
    """JUDGE.md A18; allowed by `Rules.reuse_outputs`."""

    name = "held_result"

    def verify(self, trial: Trial) -> CheckResult:
        first, second = trial.rng.sample(trial.setting.bases, 2)
        trial.run(first.values, hold=True)
        trial.run(second.values)
        verdict = trial.judge(trial.held(), first)
        if verdict.passed:
            return CheckResult(name=self.name, passed=True)
        if trial.rules.reuse_outputs:
            return CheckResult(
                name=self.name, passed=True, detail="an earlier result was overwritten; the rules allow it"
            )
        detail = f"the next call overwrote an earlier result: {verdict.detail}"
        return CheckResult(name=self.name, passed=False, detail=detail)
