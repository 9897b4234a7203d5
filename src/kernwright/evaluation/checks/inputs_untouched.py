"""Inputs must hold the same bytes after a call."""

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.trial import Trial


class InputsUntouched:
    """Threat model, A2. Reports on every call that the checks before it made."""

    name = "inputs_untouched"

    def verify(self, trial: Trial) -> CheckResult:
        if (changed := trial.changed_input()) is None:
            return CheckResult(name=self.name, passed=True)
        where = f"input {changed} on workload {trial.setting.workload.name!r}"
        return CheckResult(name=self.name, passed=False, detail=f"a call changed {where}")
