"""One element changed at the same address: what was remembered by pointer or by a few samples is stale."""

import math

import torch

from kernwright.core.errors import UserError
from kernwright.core.outcome import CheckResult
from kernwright.evaluation.drawing.regularity import is_definite
from kernwright.evaluation.numbers import is_number, is_short
from kernwright.evaluation.problem.cases import Values
from kernwright.evaluation.problem.setting import NEARLY
from kernwright.evaluation.trial import Trial
from kernwright.evaluation.weights.changes import swapped

ROUNDS, LARGER = 2, 1.25
"""How often, and how much larger an element of a definite matrix becomes."""
TRIES = 32
"""To find a place where an input may differ, of one that has a regularity."""


class SingleElement:
    """Threat model, A6, A7, B1, B2, B3."""

    name = "single_element"

    def verify(self, trial: Trial) -> CheckResult:
        values = trial.rng.choice(trial.setting.bases).values
        trial.run(values)
        for _ in range(ROUNDS):
            changed = self._changed(trial, values)
            try:
                case = trial.setting.case(changed, "one element changed", trial.setting.bases[0].seed)
            except UserError:  # the reference makes nothing of it: a factor's matrix is one no longer
                continue
            values = changed
            verdict = trial.judge(trial.run(values, move=False), case)
            if not verdict.passed:
                return CheckResult(name=self.name, passed=False, detail=verdict.detail)
        return CheckResult(name=self.name, passed=True)

    def _changed(self, trial: Trial, values: Values) -> Values:
        changed = list(values)
        for index, value in enumerate(values):
            if not isinstance(value, torch.Tensor) or value.numel() < 2 or trial.setting.is_rigid(index):
                continue
            if not (value.is_floating_point() or value.is_complex()) or index in trial.setting.marks:
                changed[index] = _rearranged(trial, index, value)
                continue
            copy = value.clone()
            place = _place(trial, index, value)
            if is_definite(value):  # which a larger diagonal leaves it
                place = (*place[:-1], place[-2])
                copy[place] *= LARGER
            else:
                copy[place] = _nearly_the_largest(trial, value)
            changed[index] = copy
        return trial.setting.kept(changed, changed)


def _rearranged(trial: Trial, index: int, value: torch.Tensor) -> torch.Tensor:
    """Integers and truth values that hang together stay; of others one is another, or two have changed places."""
    freedom = trial.setting.free.get(index)
    if freedom is None:
        return value
    if not freedom.loose:
        return swapped(value, freedom, trial.rng)
    copy, place = value.clone(), _place(trial, index, value)
    copy[place] = _another(trial, index, copy, place)
    return copy


def _place(trial: Trial, index: int, value: torch.Tensor) -> tuple[int, ...]:
    """Half of the time near the end, where partial work and sampled fingerprints do not look."""
    regularity = trial.setting.regular.get(index)
    late = trial.rng.random() < 0.5
    for _ in range(TRIES):
        place = tuple(math.ceil(n * 0.97) - 1 if late and n > 1 else trial.rng.randrange(n) for n in value.shape)
        if regularity is None or regularity.allows(place):
            break
        late = False
    return place


def _nearly_the_largest(trial: Trial, tensor: torch.Tensor) -> torch.Tensor:
    """Nearly the largest element of the tensor: of two that are tied either may be chosen."""
    size = (tensor.float() if is_short(tensor) else tensor).abs()
    largest = tensor.flatten()[size.argmax()]
    return largest * trial.rng.uniform(*NEARLY) if is_number(tensor) else largest


def _another(trial: Trial, index: int, tensor: torch.Tensor, place: tuple[int, ...]) -> torch.Tensor:
    """What another draw has there, or elsewhere: one of the tensor's own would be there twice, and which of two equal
    ones comes first is anybody's choice."""
    element = tensor[place]
    draws: list[torch.Tensor] = [base.values[index] for base in trial.setting.bases]
    for others in (torch.stack([draw[place] for draw in draws]), torch.stack(draws)):
        others = others[others != element]
        if len(others):
            return others[trial.rng.randrange(len(others))]
    return element
