"""Inputs that no generator draws: tiny, one-sided, tied, infinite, and integers on which arithmetic is exact."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch

from kernwright.evaluation.errors.allowance import rounding
from kernwright.evaluation.errors.breaking_ties import beside_any_choice
from kernwright.evaluation.errors.choices import compare_chosen, compare_decided, near, shares_off
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.factors import compare_factored
from kernwright.evaluation.errors.gross import loses_digits_alone, vanishes
from kernwright.evaluation.errors.inputs_last_digits import excused
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.numbers import generator_for, is_number, told
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .alike import alike_ways
from .arrangements import arrangement_ways
from .borders import border_ways
from .branches import branch_ways
from .chains import chain_ways
from .exactness import exact_ways
from .far_pairs import far_pair_ways
from .halves import halfway_ways
from .lines import line_ways
from .literals import asked_case, with_asked_for
from .long_turns import long_turn_ways
from .meetings import meeting_ways
from .middles import middle_ways
from .missing import missing_ways
from .narrowed import narrowed_ways
from .near_one import near_one_ways
from .periods import period_ways
from .probe import Probe, Way, all_finite, changed, in_time, small_integers, tells
from .selections import selection_ways, selects
from .shifts import shift_ways
from .signed_zeros import signed_zero_ways
from .signs import turn
from .simplexes import simplex_ways

TINY = 1e-3
BESIDE = 1e-4
"""So many usual sizes from 0."""
ONE_SIDED = 120.0
"""exp(-120) is 0 in float32; a square of it is finite, and its mean is three deviations from 0: no sum of squares
loses more than a digit."""
OUTLIER, WEIGHT, LATE = 300.0, 0.05, 0.03
"""How much larger than usual one number of a row is, or as much as so many of the row's others together where that is
more, and the last share of the row, which gets a third of these."""
FEW, ABOUT = 0.01, 2.0
"""Share of integers, or of what they count; and how many times what is allowed is about that."""
BLOCKS, UNEVEN = 64, 8.0
"""Stretches that an input is cut into, and how much longer every other is, drawn at random."""
MANY_ZEROS = 0.01
CLOSE = 0.125
"""How near an exact integer a result must be. Sums and products of small integers are exact in any order and in any
floating type; an algorithm that divides on its way, as Winograd's does, is off by far less, a lost term by 1."""
_STRETCH = 1 << 20
"""Numbers of an input that are gone through at a time, where what is made of them takes more memory than they do."""


def probes(setting: Setting, rng: random.Random) -> Iterator[Probe]:
    """Every way that suits the problem: the reference stays finite, and its outputs say something.

    In any order, for as long as there is time. Of a lean workload only those that take little memory, which show work
    left out.

    None where inputs hang together, as a factor of a matrix does: other values would be no inputs.
    """
    yield from in_time(setting, _known(setting, rng))


def probes_in_any_order(setting: Setting, rng: random.Random) -> Iterator[Probe]:
    """The same, none before others."""
    ways = _known(setting, rng)
    yield from in_time(setting, rng.sample(ways, len(ways)))


def _known(setting: Setting, rng: random.Random) -> list[Way]:
    base = rng.choice(setting.bases)
    if not setting.mixes:
        return []
    ways = [*signed_zero_ways(setting, base, rng), *middle_ways(setting, base, rng)]  # marks stay the marks they are
    if any(setting.alters(n, v) for n, v in enumerate(base.values)):
        ways = _ways(setting, base, rng, ways)
    return ways


def _ways(setting: Setting, base: Case, rng: random.Random, more: Sequence[Way]) -> list[Way]:
    """These and all others, in the order in which they are tried."""
    backward, first = setting.reference.problem.backward, list[Way]()
    ways: list[Way] = [
        *more,
        lambda: _outlying(setting, base, rng),
        lambda: _magnified(setting, base, "uneven", lambda v: _uneven(v, rng), unstable=backward),
        lambda: _dense(setting, base, rng),
    ]
    if not setting.lean:
        ways += [
            lambda: _ordinary(setting, base, "tiny", lambda v: v * TINY, _floors(setting, base)),
            lambda: _magnified(setting, base, "all negative", lambda v: -_one_sided(v), unstable=True),
            lambda: _magnified(setting, base, "all positive", _one_sided, unstable=True),
            lambda: _exact(setting, base, rng),
            lambda: _asked_for(setting, base, rng),
            lambda: _asked_for(setting, base, rng, in_stretches=True),
        ]
        zeros = [partial(_zero, setting, base, rng, zero) for zero in (0.0, -0.0)]
        ways += [partial(_zero_without_a_kink, setting, base, rng)] if backward else zeros
        ways += [*alike_ways(setting, base, rng), *border_ways(setting, base, rng), *line_ways(setting, base, rng)]
        ways += [*shift_ways(setting, base, rng), *selection_ways(setting, base, rng), *exact_ways(setting, base, rng)]
        ways += arrangement_ways(setting, base, rng)
        ways += [*far_pair_ways(setting, base, rng), *meeting_ways(setting, base, rng)]
        ways += [*halfway_ways(setting, base, rng), *branch_ways(setting, base, rng)]
        ways += [*long_turn_ways(setting, base, rng), *narrowed_ways(setting, base, rng)]
        ways += near_one_ways(setting, base, rng)
        (first if selects(setting, base) else ways).extend(period_ways(setting, base, rng))
        if setting.mixture is not None and setting.mixture.turned:
            ways += [partial(_turned, setting, base, rng, stretch=stretch) for stretch in (False, True)]
    rng.shuffle(ways)
    if setting.lean:
        return ways
    # Whoever handles missing numbers on purpose is asked in any case, and so is who takes many steps, or selects, or
    # has to do with shares.
    seldom = (missing_ways, chain_ways, simplex_ways)
    return [*first, *(way for each in seldom for way in each(setting, base, rng)), *ways]


def _ordinary(
    setting: Setting,
    base: Case,
    label: str,
    change: Callable[[torch.Tensor], torch.Tensor],
    floors: Sequence[float] | None = None,
    *,
    unstable: bool = False,
) -> Probe | None:
    """`unstable`: values at which rounding may be magnified, as in differences of what is large, so that by how much
    errors differ is chance."""
    return _made(setting, base, label, changed(setting, base, change), floors, unstable=unstable)


def _made(
    setting: Setting, base: Case, label: str, values: Values, floors: Sequence[float] | None = None, *, unstable: bool
) -> Probe | None:
    return _shown(setting, base, setting.case(values, label, base.seed), floors, unstable=unstable)


def _shown(
    setting: Setting, base: Case, case: Case, floors: Sequence[float] | None = None, *, unstable: bool
) -> Probe | None:
    """Of a case whose outputs say something."""
    if not tells(setting, case.native, number=True):
        return None
    backward = setting.reference.problem.backward
    if hides_nan(setting, case.values) or (unstable and backward and any(map(vanishes, case.native, base.native))):
        return None

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        verdict = compare_factored(outputs, case, setting, floors)
        if unstable and not verdict.passed and loses_digits_alone(outputs, case, gradients=backward):
            return Verdict(passed=True, ratio=1.0)
        return verdict

    return Probe(case, judge)


def _floors(setting: Setting, base: Case) -> list[float]:
    """What float32 rounds off a result of the usual size, as 2 sigmoid(2 x) - 1 does of tanh where that is small."""
    lost = setting.reference.problem.tolerance.epsilon_factor * torch.finfo(torch.float32).eps
    sizes = iter(told(_size(t) for t in base.native if t.is_floating_point()))
    return [lost * next(sizes) if t.is_floating_point() else 0.0 for t in base.native]


def _outlying(setting: Setting, base: Case, rng: random.Random) -> Probe | None:
    """As large as a long row needs, where the reference bears that."""
    for weight in (WEIGHT, 0.0):
        change, backward = partial(_outliers, rng=rng, weight=weight), setting.reference.problem.backward
        probe = _ordinary(setting, base, "outliers", change, unstable=backward)
        if probe is not None and (weight == 0.0 or all_finite(probe.case.native)):
            return _excusing(Probe(probe.case, partial(_but_for_few, probe)), setting)
    return None


def _magnified(
    setting: Setting, base: Case, label: str, change: Callable[[torch.Tensor], torch.Tensor], *, unstable: bool
) -> Probe | None:
    """Of values that may break what all draws keep to, and what the reference hangs on."""
    probe = _ordinary(setting, base, label, change, unstable=unstable)
    return None if probe is None else _excusing(probe, setting)


def _excusing(probe: Probe, setting: Setting) -> Probe:
    """The same, but for what other last digits of the inputs leave open."""
    return Probe(probe.case, lambda outputs: excused(probe.compare(outputs), outputs, probe.case, setting))


def _but_for_few(probe: Probe, outputs: list[torch.Tensor]) -> Verdict:
    """Of integers, which hang on what large numbers leave of others, few may be other ones, or count few more; and what
    is left of terms as large as these is known within a factor: distances by a product were 1.2 times off."""
    verdict, native = probe.compare(outputs), probe.case.native
    if verdict.passed:
        return verdict
    for index, (got, own) in enumerate(zip(outputs, native, strict=True)):
        if 0 < min(shares_off(got, own)) <= FEW:
            continue
        alone = probe.compare([*native[:index], got, *native[index + 1 :]])
        if not alone.passed and alone.ratio > ABOUT:
            return alone
    return Verdict(passed=True, ratio=1.0)


def _turned(setting: Setting, base: Case, rng: random.Random, *, stretch: bool) -> Probe | None:
    """A few numbers on the other side of 0, in inputs of which a draw has none there."""
    assert setting.mixture is not None
    values = list(base.values)
    for number in setting.mixture.turned:
        values[number] = values[number].clone(memory_format=torch.contiguous_format)
        turn(values[number], rng, stretch=stretch)
    label = "a stretch of other signs" if stretch else "a few other signs"
    return _made(setting, base, label, setting.kept(values, base.values), unstable=False)


def _asked_for(setting: Setting, base: Case, rng: random.Random, *, in_stretches: bool = False) -> Probe | None:
    values = with_asked_for(setting, base, rng, in_stretches=in_stretches)
    backward = setting.reference.problem.backward
    return None if values is None else _shown(setting, base, asked_case(setting, base, values), unstable=backward)


def _dense(setting: Setting, base: Case, rng: random.Random) -> Probe | None:
    """Zeros that came by chance are other numbers of the same input, for problems that have many of them."""
    zeros = [1 - int(v.count_nonzero()) / v.numel() for v in base.values if is_number(v)]
    if not any(MANY_ZEROS < share < 1 for share in zeros):
        return None

    def filled(value: torch.Tensor) -> torch.Tensor:
        filled, generator = value.clone(memory_format=torch.contiguous_format), generator_for(value, rng)
        others = filled.view(-1)[:0]
        for part in torch.split(filled.view(-1), _STRETCH):  # places take up to eight times the memory of numbers
            zero = part == 0
            known = part[~zero]
            others = known if known.numel() else others
            if others.numel():
                count = int(zero.sum())
                part[zero] = others[torch.randint(len(others), (count,), generator=generator, device=value.device)]
        return filled

    return _ordinary(setting, base, "no zeros", filled)


def _exact(setting: Setting, base: Case, rng: random.Random) -> Probe | None:
    """Small integers, where the reference makes integers of them without any rounding."""
    if setting.double is None or setting.reference.problem.backward:  # at kinks and ties a gradient is a choice
        return None
    values = changed(setting, base, small_integers(rng))
    case = setting.case(values, "small integers", base.seed)
    for native, oracle in zip(case.native, case.oracle, strict=True):
        if not native.is_floating_point():
            continue
        rounded = float(oracle.abs().amax()) * torch.finfo(native.dtype).eps > CLOSE if oracle.numel() else False
        if rounded or not torch.equal(native.double(), oracle) or not _integral(oracle):
            return None
    quarters = setting.reference.wide(setting.double, [v / 4 if is_number(v) else v for v in values])
    if not any(t.is_floating_point() for t in case.native) or all(map(_integral, quarters)):
        return None  # it rounds or compares itself, where a last digit may decide

    exact = rounding(setting.reference.problem) == 0.0  # else what is made on the way may be rounded

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        verdict = compare_chosen(outputs, case, setting)
        if not verdict.passed:
            return compare_decided(outputs, case, setting)
        return beside_any_choice(partial(_integers_met, outputs), case, setting) if exact else verdict

    return Probe(case, judge)


def _integers_met(outputs: Sequence[torch.Tensor], case: Case) -> Verdict:
    for index, (got, native) in enumerate(zip(outputs, case.native, strict=True)):
        if not native.is_floating_point() or got.numel() == 0:
            continue
        error = (got.double() - native.double()).abs()
        if float(worst := error.max()) > CLOSE:
            place = [int(n) for n in torch.unravel_index(error.argmax(), error.shape)]
            expected, found = native[tuple(place)].item(), got[tuple(place)].item()
            detail = f"output {index} at {place}: expected exactly {expected:g}, got {found:.8g}"
            return Verdict(passed=False, ratio=float(worst) / CLOSE, detail=detail)
    return Verdict(passed=True, ratio=0.0)


def _zero(setting: Setting, base: Case, rng: random.Random, number: float) -> Probe | None:
    """Of -0 on which side of 0 its reciprocal lies is not asked: x ** -0.5 and rsqrt(x) differ in it."""
    probe = _ordinary(setting, base, "a zero", partial(_one, rng, number))
    return None if probe is None or (math.copysign(1, number) < 0 and not all_finite(probe.case.native)) else probe


def _zero_without_a_kink(setting: Setting, base: Case, rng: random.Random) -> Probe | None:
    """For gradients, which are a choice at a kink: where they are the same on both sides, as those of a product are."""
    seed, reference = rng.getrandbits(48), setting.reference

    def with_one(number: float) -> Values:
        places = random.Random(seed)  # of each input another: a direction that is 0 there tells of no kink
        return changed(setting, base, lambda v: _one(places, number * float(_size(v)), v))

    def outputs(number: float) -> list[torch.Tensor]:
        return reference.outputs(setting.model, with_one(number))

    above, below = (where_possible(reference, partial(outputs, number)) for number in (BESIDE, -BESIDE))
    if above is None or below is None or not all(bool(near(*each).all()) for each in zip(above, below, strict=True)):
        return None
    return _made(setting, base, "a zero", with_one(0.0), unstable=False)


def _one(rng: random.Random, number: float, value: torch.Tensor) -> torch.Tensor:
    """One element is this; not two, of which either may come first in an order."""
    value = value.clone(memory_format=torch.contiguous_format)
    if value.numel():
        value.view(-1)[rng.randrange(value.numel())] = number
    return value


def _one_sided(value: torch.Tensor) -> torch.Tensor:
    return ((value.double().abs() / _size(value) + 1) * ONE_SIDED).to(value.dtype)


def _outliers(value: torch.Tensor, rng: random.Random, weight: float) -> torch.Tensor:
    """One large number in each row: a third near its end, a third at its start, where partial work does not look."""
    if value.dim() == 0:
        return value
    generator, n = generator_for(value, rng), value.shape[-1]
    rows = value.reshape(-1, n).clone()
    at = torch.rand(len(rows), 2, generator=generator, device=value.device)
    late = n - 1 - (at[:, 0] * math.ceil(n * LATE)).long()
    place = torch.where(at[:, 1] < 1 / 3, late, (at[:, 0] * n).long())
    place = torch.where(at[:, 1] > 2 / 3, 0, place).clamp(0, n - 1)
    large = (_size(value) * max(OUTLIER, weight * n)).clamp(max=torch.finfo(value.dtype).max / 4)
    sizes = 1 - torch.rand(len(rows), generator=generator, device=value.device) / 8  # no two are tied
    rows[torch.arange(len(rows), device=value.device), place] = (large * sizes).to(value.dtype)
    return rows.reshape(value.shape)


def _uneven(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """Some stretches of it longer than others: what looks at a part cannot tell the rest from it."""
    flat = value.flatten().clone()
    width = max(1, flat.numel() // BLOCKS)
    for start in range(-rng.randrange(width), flat.numel(), width):
        if rng.random() < 0.5:
            flat[max(0, start) : start + width] *= UNEVEN
    return flat.view(value.shape)


def _size(value: torch.Tensor) -> torch.Tensor:
    norm: torch.Tensor = torch.linalg.vector_norm(value, dtype=torch.float64)
    return (norm / math.sqrt(value.numel() or 1)).clamp(min=torch.finfo(torch.float32).tiny)


def _integral(tensor: torch.Tensor) -> bool:
    return not tensor.is_floating_point() or bool((tensor == tensor.round()).all())
