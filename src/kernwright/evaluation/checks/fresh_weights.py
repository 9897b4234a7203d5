"""Where weights may not be kept in another form: a result must follow them when they change where they lie."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from kernwright.core.errors import UserError
from kernwright.core.outcome import CheckResult
from kernwright.evaluation.comparison import Verdict
from kernwright.evaluation.reference import Ready
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
        setting, participant = trial.setting, trial.participant
        if trial.rules.prepack:
            return CheckResult(name=self.name, passed=True, detail="weights may be kept in another form")
        unmatched = participant.unmatched(setting.index)
        own = dict(setting.model.named_parameters()) if isinstance(setting.model, torch.nn.Module) else {}
        names = [
            name
            for name, weight in own.items()
            if name not in unmatched and weight.is_floating_point() and weight.numel()
        ]
        if not names or setting.lean or len(unmatched) >= MOST_NAMED:
            return CheckResult(name=self.name, passed=True)
        base = trial.rng.choice(setting.bases)
        old = Ready(base.values, base.native, base.oracle, "with the weights as they were", base.seed)
        trial.run(old.values)
        for share in (STRETCH, None):
            with _changed(setting, names, share, trial.rng):
                new = _case(setting, old)
                if new is None:
                    continue
                participant.reweigh(setting.index)
                outputs = trial.run(old.values, move=False)
            participant.reweigh(setting.index)
            verdict = trial.judge(outputs, new)
            if not verdict.passed:
                return self._failed(verdict)
        verdict = trial.judge(trial.run(old.values), old)
        return CheckResult(name=self.name, passed=True) if verdict.passed else self._failed(verdict)

    def _failed(self, verdict: Verdict) -> CheckResult:
        detail = f"weights changed, and the result did not follow: {verdict.detail}"
        return CheckResult(name=self.name, passed=False, detail=detail)


def _case(setting: Setting, old: Ready) -> Ready | None:
    """What the weights as they are now give; None where the problem's code cannot bear them."""
    try:
        new = setting.case(old.values, "with other weights", old.seed)
        ready = Ready(new.values, new.native, new.oracle, new.label, new.seed)
    except UserError:
        return None
    numbers = (t for t in (*ready.native, *ready.oracle) if t.is_floating_point())
    return ready if all(bool(torch.isfinite(t).all()) for t in numbers) else None


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
