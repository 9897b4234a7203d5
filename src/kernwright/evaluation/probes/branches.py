"""Inputs for which a computed number is on the side of a bound where no draw has it: a tone that stands out, an echo.

What a reference does there it says, and who leaves that out, with all that decides it, is right on every draw; nor does
a number of unusual size show it where what is compared is a ratio. So inputs are led there: a few places of what is
compared, along the gradient of their distance to the bound.
"""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from kernwright.core.errors import UserError
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.errors.ties import divides_in_whole_steps
from kernwright.evaluation.numbers import chances, real, widened
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.reference import TooLarge, is_shortage
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .bounds import DECIDES, margins_of, numbers_compared
from .conditions import COMBINING, Conditions
from .literals import compares, named
from .probe import Probe, Way, shown_far

LABEL = "led to where a comparison comes out as in no draw"
SHARE = 1 / 512
"""Of the places of what is compared, or of its lines, those that are led to the other side; one at the least. Places
that are near each other may be in each other's way."""
PAIRS = 8
"""About so many where it hangs on the place: each line is in several of them."""
STEPS, STEP, BEYOND = 40, 0.25, 6
"""Of a climb at the most; how far the most moved number of a line goes in one, in deviations of its input; and how many
more it takes once half of the places are there: near a bound a last digit decides."""
MOST, CLIMBING_S = 3, 1.5
"""Probes of a workload; and how long all its climbs may take."""
FEWEST_KINDS, LOOKED_AT = 17, 4096
"""Whole numbers of so many kinds, two of them neighbours, may be any others between: fewer are flags. So many are
looked at."""
LARGEST_BYTES = 64 << 20
"""Of inputs, weights and results: what a gradient is taken through is kept in float64, all of it."""


@dataclass(frozen=True, slots=True, eq=False)
class _Bound:
    """The comparison that comes so manieth, and the side on which no draw has it: 1 where it is never true; or none at
    these places, as where each line is compared with all and with itself."""

    number: int
    side: int
    at: torch.Tensor | None = None


@dataclass(frozen=True, slots=True)
class _Aim:
    """Bounds to be beyond of, at a few places; or on a few whole `lines`, as where all of several are asked for."""

    bounds: tuple[_Bound, ...]
    lines: bool = False


def branch_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Each leads inputs beyond one of the bounds that no draw reaches, or beyond all; the next time beyond others.

    None where gradients are asked for: on the way to a bound they become what they are at a kink.
    """
    problem = setting.reference.problem
    if problem.backward or setting.traffic_bytes > LARGEST_BYTES or not _decides(problem.source):
        return []
    return [partial(_led, setting, base, rng, number) for number in range(MOST)]


def _decides(source: str) -> bool:
    """Whether a problem's source compares anything, or calls what decides by a bound."""
    return divides_in_whole_steps(source) or compares(source) or bool(DECIDES & named(source))


def _led(setting: Setting, base: Case, rng: random.Random, number: int) -> Probe | None:
    found = setting.reference.known.once(setting.workload, LABEL, partial(_all_led, setting, rng))
    if number >= len(found):
        return None
    values = setting.reference.turns.next(LABEL, found, rng)
    return None if hides_nan(setting, values) else shown_far(setting, base, setting.case(values, LABEL, base.seed))


def _all_led(setting: Setting, rng: random.Random) -> list[Values]:
    """Values beyond each bound that could be reached."""
    bounds, end = _unmet(setting), time.monotonic() + CLIMBING_S
    aims = [_Aim((bound,)) for bound in rng.sample(bounds, len(bounds))]
    everywhere = tuple(bound for bound in bounds if bound.at is None)
    aims += [_Aim(everywhere, lines=True)] if everywhere else []
    led = (_climbed(setting, rng, aim, end) for aim in aims)
    return [values for values in led if values is not None]


def _unmet(setting: Setting) -> list[_Bound]:
    seen = [_sides(setting, each.values) for each in setting.bases]
    numbers = sorted({number for sides in seen for number in sides})
    return [bound for number in numbers for bound in _bounds(number, [s[number] for s in seen if number in s])]


def _bounds(number: int, draws: Sequence[torch.Tensor]) -> list[_Bound]:
    """Those that no draw reaches anywhere; or none at places that all draws have on one side each."""
    some, every = any(bool(above.any()) for above in draws), all(bool(above.all()) for above in draws)
    if some == every:
        return [_Bound(number, -1 if some else 1)]
    if len(draws) < 2 or any(above.shape != draws[0].shape for above in draws):
        return []
    stacked = torch.stack(list(draws))
    always, never = stacked.all(0), ~stacked.any(0)
    return [_Bound(number, 1, never), _Bound(number, -1, always)] if bool((always | never).all()) else []


def _sides(setting: Setting, values: Values) -> dict[int, torch.Tensor]:
    """How each comparison of floating numbers comes out."""
    sides: dict[int, torch.Tensor] = {}

    def look(number: int, margin: torch.Tensor) -> None:
        if margin.numel():
            sides[number] = margin > 0

    def run() -> None:
        with _Watch(setting.reference.problem.source, look):
            setting.reference.outputs(setting.model, values)

    where_possible(setting.reference, run)
    return sides


def _climbed(setting: Setting, rng: random.Random, aim: _Aim, end: float) -> Values | None:
    """Values with which some places are beyond these bounds; None where no way leads there."""
    climb, beyond = _Climb(setting, rng.choice(setting.bases).values, rng, aim), 0
    for _ in range(STEPS):
        if time.monotonic() > end or not (margins := climb.margins()):
            return None
        beyond += climb.is_there(margins)
        if beyond > BEYOND:
            break
        if not climb.step(margins):
            return None
    if not beyond:
        return None
    values = climb.values()
    sides = _sides(setting, values)
    return values if all(_is_beyond(bound, sides.get(bound.number)) for bound in aim.bounds) else None


def _is_beyond(bound: _Bound, above: torch.Tensor | None) -> bool:
    """Whether some place is, where it was to be."""
    if above is None or (bound.at is not None and bound.at.shape != above.shape):
        return False
    there = above if bound.side > 0 else ~above
    return bool((there if bound.at is None else there & bound.at).any())


class _Climb:
    """Of the inputs, from a draw on."""

    def __init__(self, setting: Setting, values: Values, rng: random.Random, aim: _Aim) -> None:
        self._setting, self._base, self._rng, self._aim = setting, values, rng, aim
        self._chosen: list[torch.Tensor] = []
        self._pace, self._reached = STEP, -math.inf
        self._whole = [n for n, v in enumerate(values) if _is_any_whole(setting, n, v)]
        moves = [n for n, v in enumerate(values) if setting.alters(n, v) or n in self._whole]
        wide = widened if setting.double is not None else torch.clone
        self._leaves = {n: wide(values[n].detach()) for n in moves}
        self._sizes = {n: float(real(leaf).double().std(correction=0)) for n, leaf in self._leaves.items()}

    def margins(self) -> list[torch.Tensor]:
        """How far beyond each bound the chosen places are; none where it is not asked, or does not hang on inputs."""
        found = self._found()
        margins = [found[bound.number] * bound.side for bound in self._aim.bounds if bound.number in found]
        if len(margins) < len(self._aim.bounds) or not all(margin.requires_grad for margin in margins):
            return []
        if not self._chosen:
            line = self._rng.random()
            pairs = zip(self._aim.bounds, margins, strict=True)
            self._chosen = [self._choice(bound, margin.detach(), line) for bound, margin in pairs]
        if any(margin.shape != chosen.shape for margin, chosen in zip(margins, self._chosen, strict=True)):
            return []
        return [margin[chosen] for margin, chosen in zip(margins, self._chosen, strict=True)]

    def _choice(self, bound: _Bound, margin: torch.Tensor, line: float) -> torch.Tensor:
        """`line`: whereabouts the lines are to lie, so that they are the same ones in all that is compared."""
        if not self._aim.lines or not margin.dim():
            chance, share = chances(margin, self._rng), SHARE
            if bound.at is not None and bound.at.shape == margin.shape:
                chance, share = torch.where(bound.at, chance, torch.inf), min(SHARE, PAIRS / margin.numel())
            return chance <= max(share, float(chance.min()))
        count = max(1, round(SHARE * len(margin)))
        first = int(line * (len(margin) - count + 1))
        chosen = torch.zeros_like(margin, dtype=torch.bool)
        chosen[first : first + count] = True
        return chosen

    def _found(self) -> dict[int, torch.Tensor]:
        asked, found = {bound.number for bound in self._aim.bounds}, dict[int, torch.Tensor]()

        def look(number: int, margin: torch.Tensor) -> None:
            if number in asked:
                found[number] = margin
                if len(found) == len(asked):
                    raise _Seen

        values = [
            self._leaves[n].requires_grad_() if n in self._leaves else value for n, value in enumerate(self._base)
        ]
        reference, double = self._setting.reference, self._setting.double
        try:
            with _Watch(reference.problem.source, look):
                if double is None:
                    reference.outputs(_Graded(self._setting.model), values)
                else:
                    reference.wide(_Graded(double), values)
        except TooLarge:
            raise
        except UserError:
            pass  # so it ends once all was seen
        return found

    def is_there(self, margins: Sequence[torch.Tensor]) -> bool:
        """Whether half of the places are beyond each."""
        return all(bool((margin.detach() > 0).double().mean() >= 0.5) for margin in margins)

    def step(self, margins: Sequence[torch.Tensor]) -> bool:
        """Uphill, and half as far each time that the last one led down; whether there is such a way. What is beyond is
        led on no farther while something else is not."""
        below = [margin.clamp(max=0) for margin in margins]
        aim = torch.cat(list(margins) if self.is_there(margins) else below).sum()
        height = float(aim.detach())
        self._pace, self._reached = self._pace / (2 if height < self._reached else 1), height
        leaves = list(self._leaves.values())
        try:
            slopes = torch.autograd.grad(aim, leaves, allow_unused=True)
        except RuntimeError as error:  # such as that of what was changed in place
            if is_shortage(error):
                raise
            return False
        moved = False
        for (number, leaf), slope in zip(self._leaves.items(), slopes, strict=True):
            if slope is None or not bool(slope.isfinite().all()) or not bool(slope.any()):
                continue
            steepest = slope.abs().amax(dim=tuple(range(1, slope.dim())), keepdim=True)
            step = slope / torch.where(steepest > 0, steepest, 1.0) * (self._pace * self._sizes[number])
            self._leaves[number] = (leaf.detach() + step).detach()
            moved = moved or self._sizes[number] > 0
        return moved

    def values(self) -> Values:
        """As the problem has them, with all that draws have in common."""
        values = [self._leaves[n].detach().to(v.dtype) if n in self._leaves else v for n, v in enumerate(self._base)]
        for number in self._whole:
            low, high = self._base[number].aminmax()
            values[number] = values[number].round().clamp(low, high)
        return self._setting.kept(values, values)  # what is not to move has not


def _is_any_whole(setting: Setting, number: int, value: Any) -> bool:
    """Whether an input is of floating numbers that are whole, such as samples of a converter, each drawn by itself."""
    if number not in setting.marks or number not in setting.free or not setting.free[number].loose:
        return False
    kinds = value.flatten()[:LOOKED_AT].double().unique()
    whole = bool((kinds == kinds.round()).all())
    return whole and len(kinds) >= FEWEST_KINDS and bool((kinds.diff() == 1).any())


class _Seen(Exception):
    """The comparison was made, and nothing else is asked."""


class _Graded(torch.nn.Module):
    """A module that is called with gradients though its caller wants none."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self._called = [module]  # not as a part: it is somebody else's

    def forward(self, *values: Any) -> Any:
        """What the module gives."""
        with torch.enable_grad():
            return self._called[0](*values)


class _Watch(TorchFunctionMode):
    """Counts what decides by bounds, and has each looked at: its number, and by how much numbers are beyond it."""

    def __init__(self, source: str, look: Callable[[int, torch.Tensor], None]) -> None:
        super().__init__()
        self._look, self._count, self._compared = look, 0, numbers_compared(source)
        self._conditions = Conditions()

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        margins = margins_of(func, args, given, self._compared)  # before it works in place
        for margin in margins:
            self._count += 1
            self._look(self._count, margin)
        made = func(*args, **given)
        if len(margins) == 1:
            self._conditions.learn(made, margins[0])
        elif (combined := self._conditions.margin(func, args, given)) is not None:
            followed = self._conditions.learn(made, combined)
            if followed and func.__name__.strip("_") in COMBINING:
                self._count += 1
                self._look(self._count, combined)
        return made
