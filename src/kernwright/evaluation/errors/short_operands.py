"""Whether a result's errors are those of products whose operands were shortened, which the rules do not allow.

How large an error is tells little where most of a result is known without the product, or common to all its numbers, as
a residual beside attention or sums of positive numbers: there additions explain as much. Which numbers are off and
which way does tell: a reference whose operands are rounded to TF32 or bfloat16 is off by the very same, while errors of
additions in another order are as often the other way. Where all numbers of a result have an error in common, of a mean
that they are divided by say, they go one way by chance; so several draws have to agree.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch

from kernwright.evaluation.numbers import real
from kernwright.evaluation.problem.cases import Asked, Case, made_whole
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible
from kernwright.evaluation.trial import Trial

from .allowance import rounding
from .comparison import Results, Verdict, spot
from .cut_off import Operands, Shorten, Shortened, cut_to_tf32, rounded_to_bfloat16, rounded_to_tf32
from .products import in_products

KINDS: dict[str, Shorten] = {
    "rounded to TF32": rounded_to_tf32,
    "cut off to TF32": cut_to_tf32,
    "rounded to bfloat16": rounded_to_bfloat16,
}
VISIBLE, VISIBLE_IN_FLOAT32 = 0.5, 4.0
"""Of the last place of a result, and of one in float32, from which on an error is asked about: the rounding of results
hides the way of a smaller one, and so does that of a number in float32 that they have in common."""
MANY = 256
"""Numbers that are asked about in a call, from which on their share is no chance."""
PASSED = Verdict(passed=True, ratio=0.0)


_Key = tuple[str, int]
"""How operands were shortened, and the number of an output."""


@dataclass(frozen=True, slots=True)
class Quorum:
    """When calls agree."""

    share: float
    """Of a call's numbers that are off as shortened operands make them, less those that are off by as much the other
    way."""
    calls: int
    """That are looked at, at most."""
    least: int
    """That have to have so many."""


OF_MANY = Quorum(share=0.15, calls=4, least=3)
"""Weights alone in TF32 leave 0.28 of a product; one accumulator for 4,096 positive numbers, rounded to steps, 0.07."""
OF_FEW = Quorum(share=0.5, calls=16, least=14)
"""One number is off as much and the same way by chance in a quarter of all calls."""
SMALLER = 2.0**-12
"""By so much all operands are smaller, to see how much of each number products are."""
MOST = 1 << 22
"""Numbers of a result that are looked at."""
SAMPLE = 1 << 16
"""Numbers of which the usual size is found."""
SLICE = 8
"""Numbers, from which on those of a slice may have a mean of their own."""
AGAIN = 0.25
"""Of timed calls after one that was not suspicious about so many are looked at."""


def operands_met(trial: Trial) -> Verdict:
    """For a candidate that met the rule of errors. A call that is not suspicious ends this; where results are few
    numbers, which may be right by chance, so many as there are bases."""
    setting = trial.setting
    if setting.lean or not asks(setting):
        return PASSED
    ballot, bases = Ballot(), trial.rng.sample(setting.bases, len(setting.bases))
    few = any(0 < t.numel() < MANY for t in bases[0].native if _has_digits(t))
    while True:
        case = bases.pop() if bases else setting.another(trial.rng)
        verdict = ballot.take(setting, case, trial.run_case(case), trial.rng)
        if not verdict.passed or not (ballot.open or (few and bases)):
            return verdict


def asks(setting: Setting) -> bool:
    """Whether the reference multiplies, all of it in float32, and the rules allow no less; found out once for each
    workload. Nobody knows where it does not run in float64."""

    def found() -> bool:
        base = setting.bases[0]
        wide = base.wide if isinstance(base, Asked) and not rounding(setting.reference.problem) else None
        return wide is not None and _multiplies(setting, partial(wide, base.values))

    return setting.reference.known.once(setting.workload, "multiplies", found)


def _multiplies(setting: Setting, wide: partial[list[torch.Tensor]]) -> bool:
    with in_products(), Operands() as whole:
        where_possible(setting.reference, wide)
    with Operands() as native:
        where_possible(setting.reference, partial(setting.reference.outputs, setting.model, setting.bases[0].values))
    types = native.dtypes or native.floating  # a layer that is one operator shows no product
    return bool(whole.dtypes) and types == {torch.float32}


@dataclass(frozen=True, slots=True)
class _Share:
    numbers: int
    """That are asked about."""
    net: float
    """Share of them that is off as shortened operands make it, less what is off by as much the other way."""
    own: float
    """The same of PyTorch's own."""
    results: Results

    @property
    def quorum(self) -> Quorum:
        return OF_MANY if self.numbers >= MANY else OF_FEW

    @property
    def suspicious(self) -> bool:
        return self.net > self.quorum.share and self.own <= self.net / 2


@dataclass(slots=True)
class _Suspicion:
    first: _Share
    calls: int = 0
    """That are suspicious."""

    def may_come(self, looked: int) -> bool:
        """Whether there may be enough of them after so many calls."""
        return self.calls + self.first.quorum.calls - looked >= self.first.quorum.least


class Ballot:
    """Calls of one participant, of which enough have to be suspicious in the same way, the first among them."""

    def __init__(self) -> None:
        self._looked = 0
        self._suspicions: dict[_Key, _Suspicion] = {}

    @property
    def open(self) -> bool:
        """Whether more calls are to tell."""
        return bool(self._suspicions)

    def take(self, setting: Setting, case: Case, outputs: Sequence[torch.Tensor], rng: random.Random) -> Verdict:
        """What follows from one more call; after one that is not suspicious all begins anew."""
        shares = _shares(setting, case, outputs, rng)
        suspicious = {key: found for key, found in shares.items() if found.suspicious}
        if not self._suspicions:
            self._looked, self._suspicions = 0, {key: _Suspicion(found) for key, found in suspicious.items()}
        self._looked += 1
        for key, suspicion in self._suspicions.items():
            suspicion.calls += key in suspicious
        known = {key: each.first for key, each in self._suspicions.items() if each.calls >= each.first.quorum.least}
        if known:
            kind, index = max(known, key=lambda key: known[key].net)
            return _wrong(setting.names[index], kind, known[kind, index])
        self._suspicions = {key: each for key, each in self._suspicions.items() if each.may_come(self._looked)}
        return PASSED


def _wrong(name: str, kind: str, found: _Share) -> Verdict:
    off = f"{found.net:.0%} of it is off as products are whose operands were {kind}, on several draws"
    return Verdict(passed=False, ratio=found.net / found.quorum.share, detail=f"{spot(name, *found.results)}; {off}")


def _shares(setting: Setting, case: Case, outputs: Sequence[torch.Tensor], rng: random.Random) -> dict[_Key, _Share]:
    """Of each output for each way to shorten operands; none where the reference refuses such, or has no digits to
    lose."""
    whole = made_whole(case)
    if not isinstance(whole, Asked) or not bool(_differ(outputs, whole)):
        return {}
    least = _with_operands(setting, whole, rounded_to_tf32)  # no other shift is smaller
    if least is None or not any(map(_reaches, outputs, whole.oracle, least)):
        return {}
    shares: dict[_Key, _Share] = {}
    smaller = _with_operands(setting, whole, _smaller)
    for kind, shorten in KINDS.items():
        short = least if shorten is rounded_to_tf32 else _with_operands(setting, whole, shorten)
        if short is None or smaller is None:
            continue
        for index, results in enumerate(zip(outputs, whole.native, whole.oracle, strict=True)):
            if _has_digits(results[1]) and results[1].numel():
                shares[kind, index] = _share(results, short[index], smaller[index], rng)
    return shares


def _with_operands(setting: Setting, case: Asked, change: Shorten) -> list[torch.Tensor] | None:
    """What the reference gives in float64 for other operands of its products."""
    if case.wide is None:
        return None
    with in_products(), Shortened(change, torch.float64):
        made = where_possible(setting.reference, partial(case.wide, case.values))
    return made if made is not None and [t.shape for t in made] == [t.shape for t in case.oracle] else None


def _reaches(got: torch.Tensor, oracle: torch.Tensor, short: torch.Tensor) -> bool:
    """Whether enough of the numbers that are shifted are off by half of that at least."""
    if not _has_digits(got) or not got.numel():
        return False
    error, shift = (abs(each - oracle) for each in (got, short))
    return bool(((error >= shift / 2) & (shift > 0)).sum() > OF_MANY.share * (shift > 0).sum())


def _smaller(operand: torch.Tensor) -> torch.Tensor:
    return operand * (1 - SMALLER)


def _share(results: Results, short: torch.Tensor, smaller: torch.Tensor, rng: random.Random) -> _Share:
    digits = torch.finfo(results[1].dtype)
    got, native, oracle, short, smaller = (t.double() for t in some_of([*map(real, (*results, short, smaller))], rng))
    errors = torch.stack([got - oracle, native - oracle, short - oracle])
    known = errors.isfinite().all(0) & oracle.isfinite() & smaller.isfinite()
    size = torch.where(known, oracle.abs(), 0.0)
    scale = size + _usual(size)
    errors = torch.where(known, errors / scale, 0.0)
    if oracle.numel() >= MANY:
        common = torch.stack([torch.ones_like(oracle), oracle, size, smaller - oracle])
        errors = without_common(torch.where(known, common / scale, 0.0), errors)
    last = max(VISIBLE * digits.eps, VISIBLE_IN_FLOAT32 * torch.finfo(torch.float32).eps)
    asked = known & (errors[2].abs() * scale > last * size)
    mine, own, step = (each[asked] for each in errors)
    told = [asked.sum()]
    for error in (mine, own):
        told += [((error - step).abs() <= step.abs() / 2).sum(), ((error + step).abs() <= step.abs() / 2).sum()]
    numbers, near, far, own_near, own_far = torch.stack(told).tolist()
    net, own_net = ((a - b) / max(numbers, 1) for a, b in ((near, far), (own_near, own_far)))
    return _Share(numbers, net, own_net, results)


def some_of(tensors: Sequence[torch.Tensor], rng: random.Random) -> list[torch.Tensor]:
    """The same places of each along the longest axis, where there may be no room for all numbers in float64."""
    shape, step = tensors[0].shape, -(-tensors[0].numel() // MOST)
    if step < 2:
        return [*tensors]
    axis = max(range(len(shape)), key=lambda axis: shape[axis])
    step = min(step, shape[axis])
    places = torch.arange(rng.randrange(step), shape[axis], step, device=tensors[0].device)
    return [t.index_select(axis, places) for t in tensors]


def _usual(size: torch.Tensor) -> torch.Tensor:
    """The middle one of some sizes, or 1 where that is 0."""
    middle = size.flatten()[:: -(-size.numel() // SAMPLE)].median()
    return torch.where(middle > 0, middle, 1.0)


def without_common(common: torch.Tensor, errors: torch.Tensor) -> torch.Tensor:
    """Errors, as shares of sizes, without what many numbers of each have in common, which is no sign of anything: so
    much of each kind in `common` as least squares find, and what whole slices have.

    An accumulator that begins with a residual loses the same part of small positive products over and over, and one
    that cuts off loses of all; the shift of operands that are cut off has such a part as well.
    """
    kinds, each = common.flatten(1), errors.flatten(1)
    products = (kinds @ torch.cat([kinds, each]).T).cpu()  # a device takes longer to begin with so few numbers
    parts = torch.mm(torch.linalg.pinv(products[:, : len(kinds)], hermitian=True), products[:, len(kinds) :])
    rest: torch.Tensor = (each - parts.T.to(each.device) @ kinds).view_as(errors)
    axes = range(1, rest.dim())
    for axis in axes:
        others = [other for other in axes if other != axis]
        if rest[0].numel() >= SLICE * rest.shape[axis]:
            rest = rest - rest.mean(others, keepdim=True)
    return rest


def _differ(got: Sequence[torch.Tensor], case: Case) -> torch.Tensor:
    """Whether enough numbers are others than PyTorch's."""
    shares = [(a != b).double().mean() for a, b in zip(got, case.native, strict=True) if a.numel()]
    return torch.stack(shares).max() >= OF_MANY.share


def _has_digits(native: torch.Tensor) -> bool:
    return native.is_floating_point() or native.is_complex()
