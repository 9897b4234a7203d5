"""Values that no generator draws: tiny, one-sided, integers, ties, infinities."""

from functools import partial

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.probes.distributions import probes
from kernwright.evaluation.probes.late_probes import asked
from kernwright.evaluation.problem.shortage import where_possible
from kernwright.evaluation.trial import Trial


class Distributions:
    """Threat model, A7, A10: fixed thresholds, capacities and starting values that fit the generator's data only."""

    name = "distributions"

    def verify(self, trial: Trial) -> CheckResult:
        count, worst = 0, 0.0
        for probe in probes(trial.setting, trial.rng):
            verdict = where_possible(trial.setting.reference, partial(asked, trial, probe))
            del probe  # there may be no room for two
            if verdict is None:
                continue
            if not verdict.passed:
                return CheckResult(name=self.name, passed=False, detail=verdict.detail)
            count, worst = count + 1, max(worst, verdict.ratio)
        return CheckResult(name=self.name, passed=True, evidence={"error_ratio": worst, "cases": float(count)})
