"""Values that the generator does not give: far from zero, heavy-tailed, equal; at the same shape."""

import random
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

import torch

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.errors.another_order import followed_by
from kernwright.evaluation.errors.breaking_ties import otherwise_chosen
from kernwright.evaluation.errors.choices import compare_decided
from kernwright.evaluation.errors.comparison import Verdict, compare
from kernwright.evaluation.errors.gross import GROSS, is_bearable, largest_share, loses_digits_alone, vanishes
from kernwright.evaluation.numbers import by_parts, generator_for
from kernwright.evaluation.probes.late_probes import asked
from kernwright.evaluation.probes.plain_matrices import plain_matrix_ways
from kernwright.evaluation.probes.probe import Probe, Way, all_finite, in_time
from kernwright.evaluation.probes.results_alone import results_alone, tie_probes
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible
from kernwright.evaluation.trial import Trial

FAR = (100.0, 150.0)
"""Where e to the power of it is infinite in float32, and a variance by squares is off by less than a hundredth."""
TAIL, SPIKES = (30.0, 80.0), 512
"""One element in so many is longer by a factor between these."""
EQUAL, GRID = "equal values", 0.25
"""Values are rounded to it, so that many are equal."""
MOST_EQUAL = 3
"""Inputs of which each has equal values once, where gradients are left out."""
SCALED = 2.5
"""Rows and columns of symmetric matrices are scaled by e to a power of at most this size."""


class Extremes:
    """Threat model, A10, A9. Only values for which the reference stays finite and exact; no integers are touched.

    A kernel may lose digits here that PyTorch does not; it may not be grossly wrong. Of a problem that asks for
    gradients, results alone are asked for where numbers are equal.
    """

    name = "extremes"

    def verify(self, trial: Trial) -> CheckResult:
        result = self._far(trial)
        for probe in _more(trial.setting, trial.rng) if result.passed else ():
            verdict = where_possible(trial.setting.reference, partial(asked, trial, probe))
            if verdict is not None and not verdict.passed:
                return self._failed(verdict)
        return result

    def _far(self, trial: Trial) -> CheckResult:
        setting, done, worst = trial.setting, 0, 0.0
        if setting.lean or not all(t.is_floating_point() or t.is_complex() for t in setting.bases[0].native):
            return CheckResult(name=self.name, passed=True)
        drawn = cases(setting, trial.rng) if setting.mixes else ()
        for case in chain(_conditioned(setting, trial.rng), drawn):
            found = where_possible(setting.reference, partial(_judged, trial, case))
            if found is None:
                continue
            verdict, error = found
            if not verdict.passed:
                worst = max(worst, error)
                if not error <= GROSS:
                    return self._failed(verdict)
            done += 1
        return CheckResult(name=self.name, passed=True, evidence={"cases": float(done), "error_share": worst})

    def _failed(self, verdict: Verdict) -> CheckResult:
        return CheckResult(name=self.name, passed=False, detail=verdict.detail)


def cases(setting: Setting, rng: random.Random) -> Iterator[Case]:
    """Of each kind the hardest that the reference bears, and rows far from zero without spikes too.

    Spikes make a variance large, behind which what cancels in it would hide.
    """
    kinds = [[("far from zero, spikes", _far_and_spiky), ("far from zero", _far), ("spikes", _spiky)]]
    # Of which of several equal values a gradient is, is a matter of choice.
    kinds += [] if setting.reference.problem.backward else [[(EQUAL, _equal)]]
    for ways in kinds:
        made = (_case(setting, rng, label, change) for label, change in ways)
        hardest = next(filter(None, made), None)
        if hardest is None:
            continue
        yield hardest
        if hardest.label == ways[0][0] and (alone := next(made, None)) is not None:
            yield alone


def _conditioned(setting: Setting, rng: random.Random) -> Iterator[Case]:
    """Symmetric matrices whose rows and columns are scaled: as definite as they were, and worse conditioned."""
    symmetric = [number for number, regularity in setting.regular.items() if regularity.symmetric]
    symmetric = [number for number in symmetric if number not in setting.marks]
    base = rng.choice(setting.bases)
    if symmetric:
        case = _finite(setting, base, "rows and columns scaled", {n: _scaled(base.values[n], rng) for n in symmetric})
        if case is not None:
            yield case


def _scaled(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    generator = generator_for(value, rng)
    size = value.shape[-1]
    scale = torch.rand(size, generator=generator, device=value.device, dtype=torch.float64) * 2 - 1
    scale = (scale * SCALED).exp().to(value.dtype)
    return value * scale * scale.unsqueeze(-1)


def _case(setting: Setting, rng: random.Random, label: str, change: Any) -> Case | None:
    base = rng.choice(setting.bases)
    places = [number for number, value in enumerate(base.values) if setting.alters(number, value)]
    if not places:
        return None
    place = setting.reference.turns.next(label, places, rng)
    return _finite(setting, base, label, {place: by_parts(partial(change, rng=rng), base.values[place])})


def _finite(setting: Setting, base: Case, label: str, changed: dict[int, torch.Tensor]) -> Case | None:
    """The case with these inputs, where the reference stays exact."""
    values: Values = [changed.get(number, value) for number, value in enumerate(base.values)]

    def made() -> Case | None:
        case = setting.case(setting.kept(values, values), label, base.seed)
        if setting.reference.problem.backward and any(map(vanishes, case.native, base.native)):
            return None
        if label == EQUAL and all_finite(base.native) and not all_finite(case.native):
            return None  # a diagonal is 0 then, say
        return case if is_bearable(case.native, case.native if setting.lean else case.oracle) else None

    return where_possible(setting.reference, made)


def equal_ways(alone: Setting, rng: random.Random) -> list[Way]:
    """Equal values in one input, for up to a few of them; of a setting whose results alone are looked at."""
    if not all(t.is_floating_point() or t.is_complex() for t in alone.bases[0].native):
        return []
    places = [number for number, value in enumerate(alone.bases[0].values) if alone.alters(number, value)]
    return [partial(_equal_results, alone, rng, place) for place in rng.sample(places, min(len(places), MOST_EQUAL))]


def _equal_results(alone: Setting, rng: random.Random, place: int) -> Probe | None:
    base = rng.choice(alone.bases)
    case = _finite(alone, base, EQUAL, {place: by_parts(partial(_equal, rng=rng), base.values[place])})
    return None if case is None else Probe(case, partial(_in_any_order, alone, case))


def _in_any_order(setting: Setting, case: Case, outputs: list[torch.Tensor]) -> Verdict:
    """Of what is decided, and of what is the same in any order, as ranks are of which equal numbers have one."""
    problem, names = setting.reference.problem, setting.names
    verdict = compare(outputs, case, problem, names)
    if verdict.passed:
        return verdict
    verdict = compare_decided(outputs, case, setting)
    if verdict.passed:
        numbers = [n for n, value in enumerate(case.values) if setting.alters(n, value)]
        known = followed_by(setting, case, numbers, random.Random(case.seed))
        outputs = [got if follows else own for got, own, follows in zip(outputs, case.native, known, strict=True)]
        verdict = compare(outputs, case, problem, names)
    if verdict.passed or largest_share(outputs, case.oracle) > GROSS:
        return verdict
    return Verdict(passed=True, ratio=1.0)


def _more(setting: Setting, rng: random.Random) -> Iterator[Probe]:
    """Plain matrices, and of a problem that asks for gradients equal numbers, of which its results alone are asked."""
    yield from in_time(setting, plain_matrix_ways(setting, rng.choice(setting.bases), rng))
    alone = results_alone(setting)
    if alone is not None:
        yield from tie_probes(alone, rng, equal_ways(alone, rng))


def _judged(trial: Trial, case: Case) -> tuple[Verdict, float]:
    """And how large the error is, as a share, where it is too large by the usual rule; beside a reference that chooses
    otherwise among equal numbers where it is grossly so beside the case."""
    outputs = trial.run_case(case)
    found = _beside(trial, case, outputs)
    if found[0].passed or found[1] <= GROSS:
        return found
    others = (_beside(trial, other, outputs) for other in otherwise_chosen(case, trial.setting))
    return next((other for other in others if other[0].passed or other[1] <= GROSS), found)


def _beside(trial: Trial, case: Case, outputs: list[torch.Tensor]) -> tuple[Verdict, float]:
    rule = partial(_in_any_order, trial.setting, case) if case.label == EQUAL else None
    verdict = trial.judge(outputs, case, rule)
    gradients = trial.setting.reference.problem.backward
    if verdict.passed or (gradients and loses_digits_alone(outputs, case, gradients=True)):
        return verdict, 0.0
    return verdict, largest_share(outputs, case.oracle)


def _far(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Every row somewhere else: as it is, far above zero or far below."""
    rows = value.shape[0] if value.dim() else 1
    far = rng.uniform(*FAR)
    generator = generator_for(value, rng)
    where = torch.randint(-1, 2, (rows,), generator=generator, device=value.device)
    one = rng.randrange(rows)
    where[one], where[(one + 1) % rows] = -1, 1  # both are there, wherever there are two rows
    shift = (where * far).to(value.dtype)
    return value + shift.view(-1, *[1] * (value.dim() - 1)) if value.dim() else value + shift[0]


def _spiky(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    spiky = value.flatten().clone()
    places = torch.tensor([rng.randrange(spiky.numel()) for _ in range(max(1, min(spiky.numel() // SPIKES, 4096)))])
    spiky[places.to(value.device)] *= rng.uniform(*TAIL)
    return spiky.view(value.shape)


def _far_and_spiky(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    return _spiky(_far(value, rng), rng) if value.dim() > 1 else _spiky(value, rng)


def _equal(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """On a grid, and the first half of the rows one number each."""
    equal = (value / GRID).round() * GRID
    if value.dim() > 1:
        half = (value.shape[0] + 1) // 2
        equal[:half] = equal[:half].flatten(1)[:, :1].view(half, *[1] * (value.dim() - 1))
    return equal
