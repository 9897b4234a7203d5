"""Values against the oracle: several draws, scales and signs, at moved and at reused addresses."""

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.setting import scaled
from kernwright.evaluation.trial import Trial


class Outputs:
    """JUDGE.md A1, A3, A5, A8, A10, A11, A12, B1."""

    name = "outputs"

    def verify(self, trial: Trial) -> CheckResult:
        setting, worst = trial.setting, 0.0
        cases = [*setting.bases, setting.case(setting.recombined(trial.rng), "spliced", setting.bases[0].seed)]
        other = scaled(setting, trial.rng)
        cases += [other] if other is not None else []
        trial.rng.shuffle(cases)
        for number, case in enumerate(cases):
            verdict = trial.judge(trial.run(case.values, move=number % 2 == 0), case)
            if not verdict.passed:
                return CheckResult(
                    name=self.name, passed=False, detail=verdict.detail, evidence={"error_ratio": verdict.ratio}
                )
            worst = max(worst, verdict.ratio)
        return CheckResult(name=self.name, passed=True, evidence={"error_ratio": worst, "cases": float(len(cases))})
