"""Where weights may not be kept in another form: a result must follow them when they change where they lie."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from kernwright.core.errors import UserError
from kernwright.core.outcome import CheckResult
from kernwright.evaluation.comparison import Verdict
from kernwright.evaluation.reference import Asked, Case
from kernwright.evaluation.setting import Setting
from kernwright.evaluation.trial import Trial

MOST_NAMED = 32
"""So many weights without a counterpart does a runner name; where there are more, nobody knows which have one."""
STRETCH = 64
"""One in so many elements of each weight changes, in one piece, which the results of a deep network still show."""
SPIKE = 8.0
"""And then one element alone, by so many times the mean size: who samples a weight to see whether it changed misses
that, and who reads all of it has saved nothing."""


class FreshWeights:
    """JUDGE.md B4; allowed by `Rules.prepack`.

    Every parameter that the candidate has under the reference's name changes in place, unseen by the tensor's own
    version; the next result must follow, and the one after them must be as before.
    """

    name = "fresh_weights"

    def verify(self, trial: Trial) -> CheckResult:
        if trial.rules.prepack:
            return CheckResult(name=self.name, passed=True, detail="weights may be kept in another form")
        names = _reached(trial)
        if not names:
            return CheckResult(name=self.name, passed=True)
        base = trial.rng.choice(trial.setting.bases)
        trial.run(base.values)
        for share in (STRETCH, None):
            verdict = _followed(trial, names, share, base)
            if not verdict.passed:
                return self._failed(verdict)
        old = Asked(
            base.values, base.native, "with the weights as they were", base.seed, lambda: base.oracle, base.fan_in
        )
        verdict = trial.judge(trial.run(base.values), old)
        return CheckResult(name=self.name, passed=True) if verdict.passed else self._failed(verdict)

    def glance(self, trial: Trial) -> CheckResult:
        """One change, one call: for a candidate whose calls before and after are compared anyway."""
        names = [] if trial.rules.prepack else _reached(trial)
        if names:
            share = trial.rng.choice((STRETCH, None))
            verdict = _followed(trial, names, share, trial.rng.choice(trial.setting.bases))
            if not verdict.passed:
                return self._failed(verdict)
        return CheckResult(name=self.name, passed=True)

    def _failed(self, verdict: Verdict) -> CheckResult:
        detail = f"weights changed, and the result did not follow: {verdict.detail}"
        return CheckResult(name=self.name, passed=False, detail=detail)


def _reached(trial: Trial) -> list[str]:
    """Weights that can be changed on both sides; empty where nobody knows which have a counterpart."""
    setting = trial.setting
    unmatched = trial.participant.unmatched(setting.index)
    if setting.lean or len(unmatched) >= MOST_NAMED or not isinstance(setting.model, torch.nn.Module):
        return []
    own = dict(setting.model.named_parameters())
    return [n for n, weight in own.items() if n not in unmatched and weight.is_floating_point() and weight.numel()]


def _followed(trial: Trial, names: list[str], share: int | None, base: Case) -> Verdict:
    """Whether the result follows a change of the weights; it passes where the problem's code cannot bear that."""
    setting, verdict = trial.setting, Verdict(passed=True, ratio=0.0)
    with _changed(setting, names, share, trial.rng):  # an oracle is asked for while they are other ones
        try:
            new = setting.case(base.values, "with other weights", base.seed)
        except UserError:
            return verdict
        if not all(bool(torch.isfinite(t).all()) for t in new.native if t.is_floating_point()):
            return verdict
        trial.participant.reweigh(setting.index)
        verdict = trial.judge(trial.run(base.values, move=False), new)
    trial.participant.reweigh(setting.index)
    return verdict


@contextmanager
def _changed(setting: Setting, names: list[str], share: int | None, rng: random.Random) -> Iterator[None]:
    """The reference's weights, and the oracle's, while one part in `share` of each, or one element, is larger.

    Signs stay: what has to be positive is so afterwards.
    """
    double = setting.double.get_parameter if setting.double is not None else None
    kept = {}
    for name in names:
        kept[name] = setting.state[name].clone()
        size = float(kept[name].double().abs().mean()) or 1.0
        flat = kept[name].clone().flatten()
        length = max(1, flat.numel() // share) if share else 1
        start = rng.randrange(flat.numel() - length + 1)
        part = flat[start : start + length]
        flat[start : start + length] = part * 0.5 + (1 if share else SPIKE) * size * torch.where(
            part < 0, -1.0, 1.0
        ).to(part.dtype)
        _put(setting.state[name], flat.view(kept[name].shape), double(name) if double else None)
    try:
        yield
    finally:
        for name, weight in kept.items():
            _put(setting.state[name], weight, double(name) if double else None)


def _put(weight: torch.Tensor, value: torch.Tensor, wide: torch.Tensor | None) -> None:
    weight.copy_(value)
    if wide is not None:
        wide.data.copy_(value)
