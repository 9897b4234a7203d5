"""Values against the oracle: several draws, scales and signs, at moved and at reused addresses."""

from collections.abc import Callable
from functools import partial

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.comparison import Verdict
from kernwright.evaluation.reference import Case
from kernwright.evaluation.setting import Setting, scaled
from kernwright.evaluation.shortage import where_possible
from kernwright.evaluation.trial import Trial


class Outputs:
    """JUDGE.md A1, A3, A5, A8, A10, A11, A12, B1."""

    name = "outputs"

    def verify(self, trial: Trial) -> CheckResult:
        setting, worst, count = trial.setting, 0.0, 0
        makers: list[Callable[[], Case | None]] = [partial(_same, base) for base in setting.bases]
        made_up = [partial(_spliced, trial), partial(scaled, setting, trial.rng)]
        makers += made_up
        trial.rng.shuffle(makers)
        for make in makers:
            look = partial(_verdict, trial, make, move=count % 2 == 0)
            verdict = where_possible(setting.reference, look) if make in made_up else look()
            if verdict is None:
                continue
            if not verdict.passed:
                return CheckResult(
                    name=self.name, passed=False, detail=verdict.detail, evidence={"error_ratio": verdict.ratio}
                )
            worst, count = max(worst, verdict.ratio), count + 1
        return CheckResult(name=self.name, passed=True, evidence={"error_ratio": worst, "cases": float(count)})


def _verdict(trial: Trial, make: Callable[[], Case | None], *, move: bool) -> Verdict | None:
    """Of one case, which is gone when this returns: there may be no room for two."""
    case = make()
    return None if case is None else trial.judge(trial.run(case.values, move=move), case)


def _same(case: Case) -> Case:
    return case


def _spliced(trial: Trial) -> Case | None:
    setting: Setting = trial.setting
    return setting.case(setting.recombined(trial.rng), "spliced", setting.bases[0].seed)
