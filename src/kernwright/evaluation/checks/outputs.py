"""Values against the oracle: several draws, scales and signs, at moved and at reused addresses."""

from collections.abc import Callable
from functools import partial

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.left_out import sums_met
from kernwright.evaluation.errors.short_operands import operands_met
from kernwright.evaluation.errors.slices import parts_met
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.problem.setting import Setting, scaled
from kernwright.evaluation.problem.shortage import where_possible
from kernwright.evaluation.trial import Trial


class Outputs:
    """Threat model, A1, A3, A5, A7, A8, A10, A11, A12, B1."""

    name = "outputs"

    def verify(self, trial: Trial) -> CheckResult:
        setting, worst, count = trial.setting, 0.0, 0
        makers: list[Callable[[], Case | None]] = [partial(_same, base) for base in setting.bases]
        closely = trial.rng.choice(makers)
        made_up = [partial(_spliced, trial), partial(scaled, setting, trial.rng)]
        makers += made_up
        trial.rng.shuffle(makers)
        for make in makers:
            look = partial(_verdict, trial, make, move=count % 2 == 0, closely=make is closely)
            verdict = where_possible(setting.reference, look) if make in made_up else look()
            if verdict is None:
                continue
            if not verdict.passed:
                detail = verdict.detail + _varied(setting)
                return CheckResult(name=self.name, passed=False, detail=detail, evidence={"error_ratio": verdict.ratio})
            worst, count = max(worst, verdict.ratio), count + 1
        for met in (operands_met, sums_met):
            verdict = met(trial)
            if not verdict.passed:
                detail = f"workload {setting.workload.name!r}, {verdict.detail}"
                return CheckResult(name=self.name, passed=False, detail=detail, evidence={"error_ratio": verdict.ratio})
        return CheckResult(name=self.name, passed=True, evidence={"error_ratio": worst, "cases": float(count)})


def _verdict(trial: Trial, make: Callable[[], Case | None], *, move: bool, closely: bool) -> Verdict | None:
    """Of one case, which is gone when this returns: there may be no room for two. `closely`: of its parts too."""
    case = make()
    if case is None:
        return None
    outputs = trial.run_case(case, move=move)
    verdict = trial.judge(outputs, case)
    if not closely or not verdict.passed or trial.setting.lean:
        return verdict
    parts = trial.judge(outputs, case, partial(parts_met, trial.setting, case))
    return verdict if parts.passed else parts


def _varied(setting: Setting) -> str:
    """Which weights differ from what a constructor makes of them, for whoever tries it by hand."""
    names = sorted(name for name, weight in setting.followed.items() if weight.level) if setting.varied else []
    return f"; {names[0]!r}, one number everywhere as it is made, holds others here" if names else ""


def _same(case: Case) -> Case:
    return case


def _spliced(trial: Trial) -> Case | None:
    setting: Setting = trial.setting
    return setting.case(setting.recombined(trial.rng), "spliced", setting.bases[0].seed)
