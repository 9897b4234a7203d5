"""The same bytes twice, with fresh memory poisoned in two ways."""

import torch

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.trial import PATTERNS, Trial


class Repeatable:
    """Threat model, A16: what was never written, or never launched, shows; bitwise only where a rule asks for it."""

    name = "repeatable"

    def verify(self, trial: Trial) -> CheckResult:
        case = trial.rng.choice(trial.setting.bases)
        runs = [trial.run(case.values, poison=pattern) for pattern in PATTERNS]
        for outputs in runs:
            verdict = trial.judge(outputs, case)
            if not verdict.passed:
                detail = f"with fresh memory poisoned: {verdict.detail}"
                return CheckResult(name=self.name, passed=False, detail=detail)
        bitwise = all(torch.equal(a, b) or _same_nans(a, b) for a, b in zip(*runs, strict=True))
        passed = bitwise or not trial.rules.deterministic
        detail = "" if passed else "two runs on the same bytes differ, and the rules ask for bitwise equality"
        return CheckResult(name=self.name, passed=passed, detail=detail, evidence={"bitwise": float(bitwise)})


def _same_nans(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.is_floating_point() and bool(((a == b) | (a.isnan() & b.isnan())).all())
