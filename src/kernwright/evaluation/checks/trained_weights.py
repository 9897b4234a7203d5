"""Weights as training, pruning or loading may leave them, which no constructor makes: a result must follow these too.

A fresh module's scales are 1, its masks let everything pass, and its norms are far below any bound on them. Who relies
on that is right until the module is used.
"""

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.numbers import chances, is_number
from kernwright.evaluation.probes.probe import compare_far
from kernwright.evaluation.problem.shortage import where_possible
from kernwright.evaluation.problem.spelled import outside_generators
from kernwright.evaluation.trial import Trial
from kernwright.evaluation.weights.reweighing import Change, follows, reached

LARGER, SMALLER, ALONE = (16.0, 256.0), 2.0**-20, 4
"""A weight as a whole is so many times as large, or a buffer as small, as the variance of a channel that is dead: each
alone and so many of them, since together they would overflow."""
MOST_NAMED, LARGEST = 8, 4.0
"""Numbers of a problem's code that a weight gets, and how many times as large as it they may be: most of the others are
shapes."""


@dataclass(frozen=True, slots=True)
class _Way:
    label: str
    names: Sequence[str]
    change: Change


class TrainedWeights:
    """Threat model, B4; allowed by `Rules.prepack`. Whoever loses digits alone is not refused."""

    name = "trained_weights"

    def verify(self, trial: Trial) -> CheckResult:
        setting = trial.setting
        if trial.rules.prepack or setting.lean:
            return CheckResult(name=self.name, passed=True)
        known = reached(trial)
        names = [name for name in known if setting.followed[name].parameter]
        level = [name for name in known if setting.followed[name].level and is_number(setting.state[name])]
        base, asked = trial.rng.choice(setting.bases), 0
        for way in (*_ways(trial, names), *_small(trial, level)):
            rule = partial(compare_far, setting, base)
            look = partial(follows, trial, way.names, way.change, base, way.label, rule)
            verdict = where_possible(setting.reference, look)
            if verdict is not None and not verdict.passed:
                return CheckResult(name=self.name, passed=False, detail=f"the result did not follow: {verdict.detail}")
            asked += verdict is not None
        return CheckResult(name=self.name, passed=True, evidence={"cases": float(asked)})


def _ways(trial: Trial, names: Sequence[str]) -> Iterator[_Way]:
    """Where some weight bears no other sign, as one under a root, others may: so halves of them are tried too."""
    rng = trial.rng

    def kept(name: str, weight: torch.Tensor) -> torch.Tensor:
        return trial.setting.followed[name].kept(weight)

    for some in _parts(names, rng):
        yield _Way("with weights of other signs", some, lambda name, weight: kept(name, _other_signs(weight, rng)))
    lined = [name for name in names if trial.setting.state[name].dim() > 1]
    if lined:
        yield _Way(
            "with lines of zeros in each weight", lined, lambda name, weight: kept(name, _lines_of_zeros(weight, rng))
        )
    for some in _parts(names, rng):
        yield _Way("with two numbers of each weight next to nothing", some, partial(_near_nothing, trial))
    constants = _constants(trial.setting.reference.problem.source)
    if constants and not trial.setting.reference.problem.backward:
        for some in _parts(names, rng):
            yield _Way("with numbers of the problem's code in each weight", some, partial(_named, trial, constants))
    for name in rng.sample(names, min(ALONE, len(names))):
        for factor in LARGER:
            yield _Way(f"with {name!r} {factor:g} times as large", [name], partial(_scaled, factor))


def _small(trial: Trial, names: Sequence[str]) -> Iterator[_Way]:
    """What is above 0 everywhere, as variances are, may come near to it, and what is added to it counts then."""
    for name in trial.rng.sample(names, min(ALONE, len(names))):
        weight = trial.setting.state[name]
        if not weight.is_complex() and bool((weight > 0).all()):
            yield _Way(f"with {name!r} next to nothing", [name], partial(_scaled, SMALLER))


def _near_nothing(trial: Trial, name: str, weight: torch.Tensor) -> torch.Tensor:
    """One number is so much smaller, and another is 0, at which a gradient would be a choice."""
    backward, rng = trial.setting.reference.problem.backward, trial.rng
    made = weight.clone(memory_format=torch.contiguous_format)
    flat, order = made.view(-1), rng.sample(range(weight.numel()), min(weight.numel(), 2))
    for place, factor in zip(order, rng.sample([SMALLER, SMALLER if backward else 0.0], 2), strict=False):
        flat[place] *= factor
    return trial.setting.followed[name].kept(made)


def _constants(source: str) -> list[float]:
    """Numbers that a problem's classes and functions name, but for those that draw inputs; 0 is tried anyway."""
    kept = [node for node in outside_generators(source) if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    nodes = [node.value for each in kept for node in ast.walk(each) if isinstance(node, ast.Constant)]
    return sorted({float(n) for n in nodes if isinstance(n, int | float) and n})


def _named(trial: Trial, constants: Sequence[float], name: str, weight: torch.Tensor) -> torch.Tensor:
    """A few places have one each that is not much larger than the weight, of either sign where that has both: a branch
    may be for this number alone."""
    made, rng = weight.clone(memory_format=torch.contiguous_format), trial.rng
    flat, most = made.view(-1), LARGEST * max(1.0, float(weight.abs().amax()) if weight.numel() else 0.0)
    known = [n for n in constants if abs(n) <= most]
    some = rng.sample(known, min(len(known), MOST_NAMED, len(flat)))
    both = weight.is_complex() or bool((weight < 0).any())
    for place, number in zip(rng.sample(range(len(flat)), len(some)), some, strict=True):
        flat[place] = -number if both and rng.random() < 0.5 else number
    return trial.setting.followed[name].kept(made)


def _scaled(factor: float, _: str, weight: torch.Tensor) -> torch.Tensor:
    return weight * factor


def _parts(names: Sequence[str], rng: random.Random) -> list[list[str]]:
    """All of them, then either half."""
    order = rng.sample(names, len(names))
    parts = [order, order[: len(order) // 2], order[len(order) // 2 :]]
    return [some for some in parts[: 3 if len(order) > 1 else 1] if some]


def _other_signs(weight: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Of half of its numbers, of one at the least."""
    turned = chances(weight, rng) < 0.5
    turned.view(-1)[rng.randrange(turned.numel())] = True
    return torch.where(turned, -weight, weight)


def _lines_of_zeros(weight: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """One along its first axis, and one along its last."""
    pruned = weight.clone()
    for axis in (0, weight.dim() - 1):
        pruned.select(axis, rng.randrange(weight.shape[axis])).zero_()
    return pruned
