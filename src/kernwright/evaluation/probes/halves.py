"""Numbers that lie half-way between two whole ones where a problem rounds: to which of them they go.

PyTorch rounds them to the even one, as IEEE 754 has it; `floor(x + 0.5)` rounds them up, and C's `round` away from 0. A
draw of real numbers hardly ever meets such a place; grey levels, prices and codes do, a quarter of whose sums may.
"""

import math
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernwright.evaluation.errors.choices import compare_chosen
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.numbers import generator_for, told
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .probe import Probe, Way, changed, tells

LABEL = "numbers half-way between two"
PARTS, MOST = (1, 2, 4, 16), 1024.0
"""Whole numbers over these, which floats hold exactly: of sums of them, and of such sums over a power of two, some are
half-way. From the smallest to the largest of an input's numbers, but of no larger size than the latter."""
NEAR = 0.1
"""So much nearer to what another rule makes than to the reference's is a result that follows that rule; and so much
nearer is the oracle to the reference's, where no last digit decides."""
_ROUND = "round"
Rule = Callable[[torch.Tensor], torch.Tensor]
RULES: dict[str, Rule] = {
    "up": lambda x: torch.floor(x + 0.5),
    "down": lambda x: torch.ceil(x - 0.5),
    "away from 0": lambda x: torch.trunc(x + torch.copysign(torch.full_like(x, 0.5), x)),
    "towards 0": lambda x: torch.sign(x) * torch.ceil(x.abs() - 0.5),
}


def halfway_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Where the reference calls `round`; of gradients nobody is asked, which are 0 there."""
    if setting.lean or setting.reference.problem.backward or not _rounds(setting, base):
        return []
    return [partial(_probe, setting, base, rng)]


def _rounds(setting: Setting, base: Case) -> bool:
    def found() -> bool:
        watch = _Rounding(None)
        with watch:
            made = where_possible(setting.reference, partial(setting.reference.outputs, setting.model, base.values))
        return made is not None and watch.seen

    return setting.reference.known.once(setting.workload, "rounds", found)


def _probe(setting: Setting, base: Case, rng: random.Random) -> Probe | None:
    """By the first of `PARTS` with which rules differ and no last digit decides."""
    for part in PARTS:
        values = changed(setting, base, partial(_whole, rng, part))
        case = where_possible(setting.reference, partial(setting.case, values, LABEL, base.seed))
        if case is None or not tells(setting, case.native, finite=True):
            continue
        others = {name: made for name, rule in RULES.items() if (made := _by(rule, setting, values)) is not None}
        apart = {name: _distance(made, case.native) for name, made in others.items()}
        if len(others) == len(RULES) and _distance(case.oracle, case.native) < NEAR * min(apart.values()):
            return Probe(case, partial(_judge, setting, case, others))
    return None


def _whole(rng: random.Random, part: int, value: torch.Tensor) -> torch.Tensor:
    """Of its shape and type, within its bounds."""
    low, high = (min(max(float(each), -MOST), MOST) for each in value.aminmax())
    least, most = math.ceil(low * part), math.floor(high * part)
    if least > most:
        return value
    made = torch.randint(least, most + 1, value.shape, generator=generator_for(value, rng), device=value.device)
    return (made / part).to(value.dtype)


def _by(rule: Rule, setting: Setting, values: Values) -> list[torch.Tensor] | None:
    """What the reference makes of the values where `round` follows this rule."""
    with _Rounding(rule):
        return where_possible(setting.reference, partial(setting.reference.outputs, setting.model, values))


def _judge(setting: Setting, case: Case, others: dict[str, list[torch.Tensor]], outputs: list[torch.Tensor]) -> Verdict:
    own = _distance(outputs, case.native)
    for name, made in others.items():
        if _distance(outputs, made) <= NEAR * own:
            detail = f"it rounds numbers that are half-way {name}, and the reference to the even one"
            return Verdict(passed=False, ratio=1 / NEAR, detail=detail)
    verdict = compare_chosen(outputs, case, setting)
    # Whoever comes to such a number by another way may be a last digit off, on either side.
    chance = 2 * max(_distance(made, case.native) for made in others.values())
    return Verdict(passed=True, ratio=1.0) if not verdict.passed and own <= chance else verdict


def _distance(one: Sequence[torch.Tensor], other: Sequence[torch.Tensor]) -> float:
    """Sum of absolute differences of all numbers."""
    return sum(told((a.double() - b.double()).abs().sum() for a, b in zip(one, other, strict=True)))


class _Rounding(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees whether anything is rounded to whole numbers, and has it done by another rule where one is given."""

    def __init__(self, rule: Rule | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._rule, self.seen = rule, False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func.overloadpacket.__name__.strip("_") != _ROUND or not args[0].is_floating_point():
            return func(*args, **(kwargs or {}))
        self.seen = True
        if self._rule is None:
            return func(*args, **(kwargs or {}))
        decimals = (kwargs or {}).get("decimals", 0)
        made = (self._rule(args[0] * 10.0**decimals) / 10.0**decimals).to(args[0].dtype)
        return args[0].copy_(made) if func.overloadpacket.__name__.endswith("_") else made
