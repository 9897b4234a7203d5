"""A result that is kept must not change when the kernel is called again."""

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.trial import Trial

LATER_CALLS = 5
"""More than the buffers that a candidate might take in turn."""


class HeldResult:
    """JUDGE.md A18; allowed by `Rules.reuse_outputs`."""

    name = "held_result"

    def verify(self, trial: Trial) -> CheckResult:
        first, *others = trial.rng.sample(trial.setting.bases, len(trial.setting.bases))
        trial.run(first.values, hold=True)
        for number in range(LATER_CALLS):
            trial.run(others[number % len(others)].values)
        verdict = trial.judge(trial.held(), first)
        if verdict.passed:
            return CheckResult(name=self.name, passed=True)
        if trial.rules.reuse_outputs:
            return CheckResult(
                name=self.name, passed=True, detail="an earlier result was overwritten; the rules allow it"
            )
        detail = f"a later call overwrote an earlier result: {verdict.detail}"
        return CheckResult(name=self.name, passed=False, detail=detail)
