"""Drawn numbers in other arrangements: in order along an axis, one line again and again, two inputs that hang together,
on one grid, with zeros among them.

Where a generator draws each number for itself none of this comes by chance: who keeps room for the longest run that he
has seen, or relies on the shares in which things come, is right on all draws. The numbers are mostly the drawn ones, so
that a right kernel has no more to bear than before; what hangs on which of equal ones comes first nobody is asked.
"""

import math
import random
from collections.abc import Callable, Sequence
from functools import partial

import torch

from kernwright.evaluation.errors.another_order import followed_by
from kernwright.evaluation.errors.breaking_ties import beside_any_choice
from kernwright.evaluation.errors.choices import compare_chosen, compare_decided, shares_off
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.gross import is_bearable, loses_digits_alone, size
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.numbers import generator_for
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible
from kernwright.evaluation.problem.turns import Turns

from .lines import breaks_off
from .probe import Probe, Way, all_finite, changed, compare_far, tells

LEAST = 8
"""Numbers of an axis, or lines, from which on an order says something."""
ORDERED, MOST_ORDERED = 0.5, 1 << 20
"""Share of lines, and numbers."""
WAVES = (0.5, 4.0)
"""Periods of a wave along a line: half of one rises and falls once."""
PERIODS, HAZE = (3, 8), 1e-4
"""Places of a pattern; what tells numbers apart that are equally high in it."""
MOST = (0.55, 0.95)
"""Share of all lines that are one."""
APART = 1 / 64
"""Standard deviations by which an input differs from what another one says of it."""
FINE = 8
"""Steps of a grid in what numbers usually are."""
DIGITS, FEW, MANY = 32, 0.01, 0.05
"""By so many last digits numbers are moved; by what share integers may differ in all then, and by what not."""
ZEROS = (0.1, 0.5)
"""Share of numbers that are zero."""

Change = Callable[[Values], str | None]
"""Puts other values into those that are given, and says what they are; None where no input suits."""


def arrangement_ways(setting: Setting, base: Case, rng: random.Random) -> list[Way]:
    """Of each kind one, and three orders."""
    inputs = [n for n, v in enumerate(base.values) if setting.alters(n, v) and not v.is_complex() and v.numel() > 1]
    if not inputs:
        return []
    turns = setting.reference.turns
    unequal: list[Change] = [
        *(partial(_in_order, inputs, rng, turns, last) for last in (False, True)),
        partial(_several_in_order, inputs, rng, turns),
        partial(_together, inputs, rng, turns),
    ]
    # Of equal numbers a gradient is a choice, and at 0 often too.
    kinds = () if setting.reference.problem.backward else (_repeated, _with_zeros, _with_zeros_at_a_place)
    equal: list[Change] = [partial(each, inputs, rng, turns) for each in kinds]
    ways: list[Way] = [partial(_probe, setting, base, change, ties=False) for change in unequal]
    ways += [partial(_probe, setting, base, change, ties=True) for change in equal]
    return [*ways, partial(_on_one_grid, setting, base, inputs, rng)]


def _probe(setting: Setting, base: Case, change: Change, *, ties: bool) -> Probe | None:
    values = list(base.values)
    if (label := change(values)) is None or hides_nan(setting, values := setting.kept(values, base.values)):
        return None
    case = setting.case(values, label, base.seed)
    if not tells(setting, case.native, finite=True):
        return None

    def judge(outputs: list[torch.Tensor]) -> Verdict:
        verdict = compare_far(setting, base, case, outputs)
        if verdict.passed:
            return verdict
        broken = breaks_off(outputs, case, setting)
        if broken is not None and is_bearable(case.native, case.oracle):
            return broken
        if not ties:
            return verdict
        decided = compare_decided(outputs, case, setting)
        return verdict if decided.passed and _many_differ(setting, case, outputs) else decided

    return Probe(case, judge)


def _many_differ(setting: Setting, case: Case, outputs: list[torch.Tensor]) -> bool:
    """Whether integers do of which few hang on a last digit: a count that holds a choice among equal numbers, say."""
    rng = random.Random(case.seed)

    def nearby(value: torch.Tensor) -> torch.Tensor:
        noise = torch.rand(value.shape, generator=generator_for(value, rng), device=value.device, dtype=torch.float64)
        sizes = value.double().abs().clamp(min=size(value))  # so that zeros differ too
        return (value.double() + DIGITS * torch.finfo(value.dtype).eps * (noise - 0.5) * sizes).to(value.dtype)

    values = changed(setting, case, nearby)
    moved = where_possible(setting.reference, partial(setting.reference.outputs, setting.model, values))
    triples = zip(outputs, case.native, moved or (), strict=moved is not None)
    return any(shares_off(other, own)[1] <= FEW < MANY < shares_off(got, own)[1] for got, own, other in triples)


def _in_order(inputs: list[int], rng: random.Random, turns: Turns, last: bool, values: Values) -> str | None:
    """Some lines along an axis, or the last one, have their own numbers, in one order or another; not all, which might
    make one result of all."""
    axes = [(n, axis) for n in inputs for axis, length in enumerate(values[n].shape) if length >= LEAST]
    axes = [(n, axis) for n, axis in axes if axis == values[n].dim() - 1 or not last]
    if not axes:
        return None
    number, axis = turns.next(f"in order, last axis {last}", axes, rng)
    lines = (
        values[number]
        .movedim(axis, -1)
        .clone(memory_format=torch.contiguous_format)
        .view(-1, values[number].shape[axis])
    )
    count, length = lines.shape
    some = max(1, min(round(ORDERED * count), MOST_ORDERED // length))
    chosen = torch.randperm(count, generator=generator_for(lines, rng), device=lines.device)[:some]
    for kind, places in enumerate(rng.sample(ORDERS, len(ORDERS))):
        at = chosen[kind :: len(ORDERS)]
        order = places(len(at), length, rng).to(lines.device)
        lines[at] = lines[at].sort(-1).values.gather(-1, order.expand(len(at), length))
    moved = values[number].movedim(axis, -1).shape
    values[number] = lines.view(moved).movedim(-1, axis).contiguous()
    return f"in order along axis {axis} of input {number}"


def _several_in_order(inputs: list[int], rng: random.Random, turns: Turns, values: Values) -> str | None:
    """Inputs that have their first axes in common rise or fall together along the last of these, as boxes and their
    scores may; in some lines, or in a stretch where there is one alone."""
    heads = dict.fromkeys(tuple(values[n].shape[:last]) for n in inputs for last in range(1, values[n].dim() + 1))
    groups = {head: [n for n in inputs if values[n].shape[: len(head)] == head] for head in heads if head[-1] >= LEAST}
    alike = [(head, group) for head, group in groups.items() if len(group) > 1]
    if not alike:
        return None
    longest = max(head[-1] for head, _ in alike)
    head, group = turns.next("several in order", [each for each in alike if each[0][-1] == longest], rng)
    outer, length = math.prod(head[:-1]), head[-1]
    numbers = max(values[n].numel() for n in group) // outer
    lines = rng.sample(range(outer), max(1, min(round(ORDERED * outer), MOST_ORDERED // numbers)))
    some = length if outer > 1 else max(LEAST, length // 2)
    start = rng.randrange(length - some + 1)
    falls, same_way = rng.random() < 0.5, rng.random() < 0.5
    for number in group:
        made = values[number].clone(memory_format=torch.contiguous_format)
        flat, falls = made.view(outer, length, -1), falls if same_way else rng.random() < 0.5
        flat[lines, start : start + some] = flat[lines, start : start + some].sort(dim=1, descending=falls).values
        values[number] = made
    return f"in order along axis {len(head) - 1} of inputs {', '.join(map(str, group))}"


def _rising(lines: int, length: int, rng: random.Random) -> torch.Tensor:
    """Which of the numbers in order comes at each place, of so many lines or of all alike."""
    return torch.arange(length)


def _falling(lines: int, length: int, rng: random.Random) -> torch.Tensor:
    return torch.arange(length - 1, -1, -1)


def _pipe(lines: int, length: int, rng: random.Random) -> torch.Tensor:
    """Up and down again."""
    return torch.cat([torch.arange(0, length, 2), torch.arange(1, length, 2).flip(0)])


def _wave(lines: int, length: int, rng: random.Random) -> torch.Tensor:
    turns, phase = rng.uniform(*WAVES), rng.random()
    return torch.sin(2 * math.pi * (torch.arange(length) / length * turns + phase)).argsort().argsort()


def _zigzag(lines: int, length: int, rng: random.Random) -> torch.Tensor:
    """A low one and a high one in turn, each a little higher than the one before."""
    half = (length + 1) // 2
    return torch.stack([torch.arange(half), torch.arange(half) + half], 1).flatten().clamp(max=length - 1)[:length]


def _in_turns(lines: int, length: int, rng: random.Random) -> torch.Tensor:
    """High and low ones in turn, in each line over and over by another pattern, as teeth of a saw."""
    generator = torch.Generator().manual_seed(rng.getrandbits(48))
    periods = torch.randint(PERIODS[0], PERIODS[1] + 1, (lines, 1), generator=generator)
    heights = torch.rand(lines, PERIODS[1], generator=generator).gather(1, torch.arange(length) % periods)
    return (heights + HAZE * torch.rand(lines, length, generator=generator)).argsort(-1).argsort(-1)


ORDERS = (_rising, _falling, _pipe, _wave, _zigzag, _in_turns)


def _repeated(inputs: list[int], rng: random.Random, turns: Turns, values: Values) -> str | None:
    """One line stands for most of them, a stretch along the longest axis."""
    several = [n for n in inputs if values[n].dim() > 1]
    axes = [(n, axis) for n in several for axis, length in enumerate(values[n].shape[:-1]) if length >= LEAST]
    if not axes:
        return None
    most = max(values[n].shape[axis] for n, axis in axes)
    number, axis = turns.next("repeated", [(n, axis) for n, axis in axes if values[n].shape[axis] == most], rng)
    value = values[number].clone(memory_format=torch.contiguous_format)
    count = value.shape[axis]
    some = min(round(rng.uniform(*MOST) * count), count - 1)
    places = torch.arange(some, device=value.device) + rng.randrange(count - some + 1)
    line = value.narrow(axis, rng.randrange(count), 1).clone()
    values[number] = value.index_copy_(axis, places, line.expand(*value.shape[:axis], some, *value.shape[axis + 1 :]))
    return f"one line most of the time along axis {axis} of input {number}"


def _together(inputs: list[int], rng: random.Random, turns: Turns, values: Values) -> str | None:
    """One input is another one of its shape but for a little, or the opposite of it."""
    same = [(n, m) for n in inputs for m in inputs if n != m and values[n].shape == values[m].shape]
    pairs = [(n, m, sign) for sign in (-1, 1) for n, m in same]
    if not pairs:
        return None
    number, other, sign = turns.next("together", pairs, rng)
    value, like = values[number].double(), values[other].double()
    if not all_finite([value, like]) or float(like.std()) == 0.0:
        return None
    noise = torch.randn(value.shape, generator=generator_for(like, rng), device=like.device, dtype=torch.float64)
    moved = sign * (like - like.mean()) / like.std() + APART * noise
    values[number] = (value.mean() + value.std() * moved).to(values[number].dtype)
    return f"input {number} as input {other} is" if sign > 0 else f"input {number} the opposite of input {other}"


def _with_zeros(inputs: list[int], rng: random.Random, turns: Turns, values: Values) -> str | None:
    """At random places."""
    number = turns.next("zeros", inputs, rng)
    value = values[number].clone(memory_format=torch.contiguous_format)
    value[_some(value.shape, value, rng)] = 0.0
    values[number] = value
    return f"zeros in input {number}"


def _with_zeros_at_a_place(inputs: list[int], rng: random.Random, turns: Turns, values: Values) -> str | None:
    """At one place of the last axes, often the first, for some of those before."""
    several = [n for n in inputs if values[n].dim() > 1]
    if not several:
        return None
    number = turns.next("zeros at a place", several, rng)
    value = values[number].clone(memory_format=torch.contiguous_format)
    inner = min(2, value.dim() - 1)
    place = tuple(rng.choice((0, rng.randrange(length))) for length in value.shape[-inner:])
    value[(_some(value.shape[:-inner], value, rng), *place)] = 0.0
    values[number] = value
    return f"zeros in input {number}, all at one place"


def _some(shape: Sequence[int], value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    return torch.rand(shape, generator=generator_for(value, rng), device=value.device) < rng.uniform(*ZEROS)


def _on_one_grid(setting: Setting, base: Case, inputs: list[int], rng: random.Random) -> Probe | None:
    """Equal numbers within inputs and across them, asked of what is the same in any order, or comes in that order."""
    if setting.reference.problem.backward:
        return None
    values = list(base.values)
    usual = max(size(values[n]) for n in inputs)
    step = math.ldexp(1.0, math.frexp(usual / FINE)[1]) if usual else 1.0
    for number in inputs:
        values[number] = ((values[number] / step).round() * step + 0.0).to(values[number].dtype)  # no -0
    values = setting.kept(values, base.values)
    if hides_nan(setting, values):
        return None
    case = setting.case(values, "on one grid", base.seed)
    if not (tells(setting, case.native, finite=True) and is_bearable(case.native, case.oracle)):
        return None
    follows = followed_by(setting, case, inputs, rng)
    if not any(follows):
        return None

    def beside(outputs: list[torch.Tensor], case: Case) -> Verdict:
        asked = [got if known else own for got, own, known in zip(outputs, case.native, follows, strict=True)]
        verdict = compare_chosen(asked, case, setting)
        if not verdict.passed and loses_digits_alone(asked, case, gradients=False):
            return Verdict(passed=True, ratio=1.0)
        return verdict

    return Probe(case, lambda outputs: beside_any_choice(partial(beside, outputs), case, setting))
