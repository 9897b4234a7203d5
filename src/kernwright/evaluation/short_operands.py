"""Whether a result's errors are those of products whose operands were shortened, which the rules do not allow.

How large an error is tells little where most of a result is known without the product, or common to all its numbers, as
a residual beside attention or sums of positive numbers: there additions explain as much. Which numbers are off and
which way does tell: a reference whose operands are rounded to TF32 or bfloat16 is off by the very same, while errors of
additions in another order are as often the other way. Where all numbers of a result have an error in common, of a mean
that they are divided by say, they go one way by chance; so several draws have to agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch

from .allowance import rounding
from .cases import Asked, Case, Later
from .comparison import Results, Verdict, spot
from .cut_off import Operands, Shorten, Shortened, cut_to_tf32, rounded_to_bfloat16, rounded_to_tf32
from .nearness import stretches
from .products import in_products
from .setting import Setting
from .shortage import where_possible
from .trial import Trial

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
        verdict = ballot.take(setting, case, trial.run_case(case))
        if not verdict.passed or not (ballot.open or (few and bases)):
            return verdict


def asks(setting: Setting) -> bool:
    """Whether the reference multiplies, all of it in float32, and the rules allow no less; found out once for each
    workload. Nobody knows where it does not run in float64."""
    known, name = setting.reference.multiplies, setting.workload.name
    if name not in known:
        base = setting.bases[0]
        wide = base.wide if isinstance(base, Asked) and not rounding(setting.reference.problem) else None
        known[name] = wide is not None and _multiplies(setting, partial(wide, base.values))
    return known[name]


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

    def take(self, setting: Setting, case: Case, outputs: Sequence[torch.Tensor]) -> Verdict:
        """What follows from one more call; after one that is not suspicious all begins anew."""
        shares = _shares(setting, case, outputs)
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


def _shares(setting: Setting, case: Case, outputs: Sequence[torch.Tensor]) -> dict[_Key, _Share]:
    """Of each output for each way to shorten operands; none where the reference refuses such, or has no digits to
    lose."""
    whole = case.made() if isinstance(case, Later) else case
    if not isinstance(whole, Asked) or whole.wide is None or not bool(_differ(outputs, whole)):
        return {}
    shares = {}
    for kind, shorten in KINDS.items():
        with in_products(), Shortened(shorten, torch.float64):
            short = where_possible(setting.reference, partial(whole.wide, whole.values))
        if short is None or [t.shape for t in short] != [t.shape for t in whole.oracle]:
            continue
        for index, results in enumerate(zip(outputs, whole.native, whole.oracle, strict=True)):
            if _has_digits(results[1]):
                numbers, near, far, own_near, own_far = _counts(*results, short[index])
                net, own = ((a - b) / max(numbers, 1) for a, b in ((near, far), (own_near, own_far)))
                shares[kind, index] = _Share(numbers, net, own, results)
    return shares


def _differ(got: Sequence[torch.Tensor], case: Case) -> torch.Tensor:
    """Whether enough numbers are others than PyTorch's."""
    shares = [(a != b).double().mean() for a, b in zip(got, case.native, strict=True) if a.numel()]
    return torch.stack(shares).max() >= OF_MANY.share


def _has_digits(native: torch.Tensor) -> bool:
    return native.is_floating_point() or native.is_complex()


def _counts(got: torch.Tensor, native: torch.Tensor, oracle: torch.Tensor, short: torch.Tensor) -> list[int]:
    """How many numbers are asked about; how many are off as `short` is, and by as much the other way; and how many of
    PyTorch's own."""
    last = max(VISIBLE * torch.finfo(native.dtype).eps, VISIBLE_IN_FLOAT32 * torch.finfo(torch.float32).eps)
    sums = [0] * 5
    for mine, own, true, other in stretches(got, native, oracle, short):
        step = other - true
        asked = torch.isfinite(own) & torch.isfinite(step) & (step.abs() > last * true.abs())
        half, told = step[asked].abs() / 2, [asked.sum()]
        for result in (mine, own):
            error = (result - true)[asked]
            told += [((error - step[asked]).abs() <= half).sum(), ((error + step[asked]).abs() <= half).sum()]
        sums = [a + b for a, b in zip(sums, torch.stack(told).tolist(), strict=True)]
    return sums
