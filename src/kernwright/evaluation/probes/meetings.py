"""Numbers of one input that are those of another with which the reference compares them, every one with every one.

A ray from a point at a corner's height crosses one of the two sides there, and points that were drawn never lie so.
Each line gets one such number at most: a point that meets a corner in all of its coordinates is inside or outside by a
last digit.
"""

import random
from functools import partial

import torch

from kernwright.evaluation.errors.choices import Move, compare_chosen, decided, settled
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.gross import merely_unstable
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.numbers import generator_for
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting

from .literals import asked_for
from .probe import Probe, Way, tells

LABEL = "numbers of an input that they are compared with"
SHARE = 0.25
"""Of an input's numbers, or twice as large a share of its lines, those that get one of the other's."""
MOST = 2
"""Pairs of inputs."""


def meeting_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Of gradients, which are choices there, nobody is asked."""
    if setting.lean or setting.reference.problem.backward:
        return []
    return [partial(_probe, setting, base, rng)]


def _probe(setting: Setting, base: Case, rng: random.Random) -> Probe | None:
    met = _met(setting, base, rng)
    if not met:
        return None

    def with_them(moved: Move) -> Values:
        values = list(base.values)
        for number, (at, others) in met.items():
            values[number] = torch.where(at, moved(others), values[number])
        return setting.kept(values, base.values)

    values = with_them(lambda others: others)
    if hides_nan(setting, values):
        return None
    case = setting.case(values, LABEL, base.seed)
    if not tells(setting, case.native, finite=True):
        return None
    seed = rng.getrandbits(48)

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        verdict = compare_chosen(outputs, case, setting)
        if verdict.passed:
            return verdict
        sides = decided(setting, case, with_them, seed)
        if sides is None:
            return Verdict(passed=True, ratio=1.0)
        asked = settled(outputs, case, sides)
        verdict = compare_chosen(asked, case, setting)
        if not verdict.passed and merely_unstable(asked, case.native, case.oracle):
            return Verdict(passed=True, ratio=1.0)
        return verdict

    return Probe(case, judge)


def _met(setting: Setting, base: Case, rng: random.Random) -> dict[int, tuple[torch.Tensor, torch.Tensor]]:
    """By the number of an input at which places another one's number is put, and which at each. The larger of the two
    gets them; those of one shape and type are for `literals`."""
    pairs = sorted({(min(pair), max(pair)) for pair in asked_for(setting, base).pairs})
    found = dict[int, tuple[torch.Tensor, torch.Tensor]]()
    for pair in rng.sample(pairs, min(MOST, len(pairs))):
        one, other = sorted(pair, key=lambda n: base.values[n].numel(), reverse=True)
        if not _may_have(setting, base, one):
            one, other = other, one
        value, given = base.values[one], base.values[other]
        alike = value.shape == given.shape and value.dtype == given.dtype
        if not alike and one not in found and other not in found and _may_have(setting, base, one):
            found[one] = _others(value, given.to(value.dtype), rng)
    return found


def _may_have(setting: Setting, base: Case, number: int) -> bool:
    value = base.values[number]
    return setting.alters(number, value) and value.dim() > 0 and not value.is_complex()


def _others(value: torch.Tensor, given: torch.Tensor, rng: random.Random) -> tuple[torch.Tensor, torch.Tensor]:
    """The number of the same place where shapes go together, of the same column where lines are as long, else any."""
    generator = generator_for(value, rng)
    chance = torch.rand(value.shape, generator=generator, device=value.device)
    if _goes_into(given.shape, value.shape):
        return chance < SHARE, given.expand(value.shape)
    if min(value.dim(), given.dim()) > 1 and value.shape[-1] == given.shape[-1]:
        lines = given.reshape(-1, given.shape[-1])
        picked = torch.randint(len(lines), value.shape, generator=generator, device=value.device)
        others = lines.gather(0, picked.view(-1, given.shape[-1])).view(value.shape)
        line = torch.rand(value.shape[:-1], generator=generator, device=value.device) < 2 * SHARE
        return (chance == chance.amax(-1, keepdim=True)) & line.unsqueeze(-1), others
    picked = torch.randint(given.numel(), value.shape, generator=generator, device=value.device)
    return chance < SHARE, given.flatten()[picked]


def _goes_into(shape: torch.Size, other: torch.Size) -> bool:
    """Whether a tensor of the one may be expanded to the other."""
    ends = zip(reversed(shape), reversed(other), strict=False)
    return len(shape) <= len(other) and all(n in (1, m) for n, m in ends)
