"""Where weights may not be kept in another form: a result must follow them when they change where they lie."""

from collections.abc import Callable
from functools import partial

import torch

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.problem.shortage import where_possible
from kernwright.evaluation.trial import Trial
from kernwright.evaluation.weights.otherwise import CHANGES, Change
from kernwright.evaluation.weights.reweighing import bears, follows, reached, renew

MOST_ALONE = 64
"""Weights of which each is changed alone, where all together are not borne; one run of the reference each, or three."""


class FreshWeights:
    """Threat model, B4; allowed by `Rules.prepack`.

    Every parameter, and every buffer that a seed decides, changes in place, unseen by the tensor's own version; the
    next result must follow, and the one after them must be as before. Which of its tensors those are in a candidate is
    told by name, else by value; one that has them in no such form is refused before (`Course`).
    """

    name = "fresh_weights"

    def verify(self, trial: Trial) -> CheckResult:
        if trial.rules.prepack:
            return CheckResult(name=self.name, passed=True, detail="weights may be kept in another form")
        names = reached(trial)
        if not names:
            return CheckResult(name=self.name, passed=True)
        base = trial.setting.another(trial.rng)
        parts = (partial(_verdict, trial, names, one, base) for one in (False, True))
        for changed in (*parts, partial(_all_other, trial, names, base)):
            trial.run(base.values)  # so that each change is one of the weights as they are
            verdict = changed()
            if not verdict.passed:
                return self._failed(verdict)
        old = trial.setting.case(base.values, "with the weights as they were", base.seed)
        verdict = trial.judge(trial.run(old.values), old)
        return CheckResult(name=self.name, passed=True) if verdict.passed else self._failed(verdict)

    def glance(self, trial: Trial) -> CheckResult:
        """One change, one call: for a candidate whose calls before and after are compared anyway."""
        return self._glance(trial, [] if trial.rules.prepack else reached(trial))

    def glance_at_all(self, trial: Trial) -> CheckResult:
        """The same, and nothing stays as it was: whoever changes a part of what it made of weights has it all to do."""
        names = [] if trial.rules.prepack else reached(trial)
        if not names:
            return CheckResult(name=self.name, passed=True)
        verdict = _all_other(trial, names, trial.setting.another(trial.rng))
        return CheckResult(name=self.name, passed=True) if verdict.passed else self._failed(verdict)

    def glance_at_some(self, trial: Trial) -> CheckResult:
        """The same, and some of the weights stay as they are, most often all but one: the smallest says nothing of the
        others then."""
        names = [] if trial.rules.prepack else reached(trial)
        count = 1 if trial.rng.random() < 0.5 else trial.rng.randint(1, max(len(names), 1))
        return self._glance(trial, trial.rng.sample(names, min(count, len(names))))

    def _glance(self, trial: Trial, names: list[str]) -> CheckResult:
        if names:
            one = trial.rng.random() < 0.5
            verdict = _verdict(trial, names, one, trial.setting.another(trial.rng))
            if not verdict.passed:
                return self._failed(verdict)
        return CheckResult(name=self.name, passed=True)

    def _failed(self, verdict: Verdict) -> CheckResult:
        detail = f"weights changed, and the result did not follow: {verdict.detail}"
        return CheckResult(name=self.name, passed=False, detail=detail)


def _verdict(trial: Trial, names: list[str], one: bool, base: Case) -> Verdict:
    """Whether the result follows a change; of the parameters alone, where the problem's code bears no other buffers."""
    parameters = [name for name in names if trial.setting.followed[name].parameter]
    for some in (names, parameters) if len(parameters) < len(names) else (names,):
        verdict = where_possible(trial.setting.reference, partial(_followed, trial, some, one, base)) if some else None
        if verdict is not None:
            return verdict
    return Verdict(passed=True, ratio=0.0)


def _all_other(trial: Trial, names: list[str], base: Case) -> Verdict:
    """Whether the result follows other weights altogether, of which the problem's code surely bears those of the module
    from another seed."""
    setting = trial.setting
    if not renew(setting, trial.rng):
        names = [name for name in names if not setting.followed[name].together]

    def asked(bear: Callable[[str], Change | None]) -> Verdict | None:
        def change(name: str, weight: torch.Tensor) -> torch.Tensor:
            return setting.followed[name].exchanged(weight, trial.rng, anew=bear(name))

        ask = partial(follows, trial, names, change, base, "with other weights altogether")
        return where_possible(setting.reference, ask) if names else None

    verdict = asked(lambda name: setting.borne.get(name, CHANGES[0]))
    if verdict is None and names and not any(name in setting.borne for name in names):
        setting.borne |= {name: _borne(trial, name, base) for name in names[:MOST_ALONE]}
        setting.borne |= dict.fromkeys(names[MOST_ALONE:])
        verdict = asked(setting.borne.__getitem__)
    verdict = verdict or asked(lambda name: None)
    return verdict if verdict is not None else Verdict(passed=True, ratio=0.0)


def _borne(trial: Trial, name: str, base: Case) -> Change | None:
    """The first change that the problem's code bears of this weight alone."""
    weight = trial.setting.followed[name]
    if weight.together:
        return CHANGES[0]
    for anew in CHANGES:

        def change(_: str, value: torch.Tensor, anew: Change = anew) -> torch.Tensor:
            return weight.exchanged(value, trial.rng, anew=anew)

        if where_possible(trial.setting.reference, partial(bears, trial.setting, name, change, base)):
            return anew
    return None


def _followed(trial: Trial, names: list[str], one: bool, base: Case) -> Verdict | None:
    def change(name: str, weight: torch.Tensor) -> torch.Tensor:
        return trial.setting.followed[name].changed(weight, trial.rng, one=one)

    return follows(trial, names, change, base, "with other weights")
