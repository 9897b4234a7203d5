"""Inputs must hold the same bytes after a call."""

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.trial import Trial


class InputsUntouched:
    """JUDGE.md A2. Reports on every call that the checks before it made."""

    name = "inputs_untouched"

    def verify(self, trial: Trial) -> CheckResult:
        if not trial.changed:
            return CheckResult(name=self.name, passed=True)
        where = f"input {trial.changed[0]} on workload {trial.setting.workload.name!r}"
        return CheckResult(name=self.name, passed=False, detail=f"a call changed {where}")
