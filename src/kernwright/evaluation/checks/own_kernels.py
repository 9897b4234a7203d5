"""Where vendor libraries are forbidden: the share of time that goes to the candidate's own code."""

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.trial import Trial

LARGEST_VENDOR_SHARE = 0.1


class OwnKernels:
    """Threat model, A14, A15, by the runner's profile; a check only under `vendor_libraries=forbidden`."""

    name = "own_kernels"

    def verify(self, trial: Trial) -> CheckResult:
        if trial.rules.vendor_libraries == "allowed":
            return CheckResult(name=self.name, passed=True, detail="vendor libraries are allowed")
        values = trial.setting.bases[0].values
        trial.participant.fill(trial.setting.index, 0, values)
        share, names = trial.participant.vendor_share(trial.setting.index, 0, values)
        passed = share <= LARGEST_VENDOR_SHARE
        detail = "" if passed else f"{share:.0%} of the call's time is in PyTorch's {', '.join(names)}"
        return CheckResult(name=self.name, passed=passed, detail=detail, evidence={"vendor_share": share})
