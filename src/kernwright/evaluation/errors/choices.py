"""Where a result hangs on more than a last digit: on which of equal numbers comes first, which is anybody's choice."""

from collections.abc import Callable, Sequence
from functools import partial

import torch

from kernwright.evaluation.numbers import by_parts, is_number
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .breaking_ties import beside_any_choice
from .choosing import chooses
from .comparison import Verdict, compare

DIGITS, FINEST = 256, 1e-4
"""By up to so many last digits, each by its own number of them, numbers are moved; by no larger share than that where a
type has so fine ones."""
FEW_DIGITS = 4
"""The same where only what is equal, or next to it, is to come in another order."""
ORDERS, CHOSEN = 3, 0.01
"""In so many orders, and their reverses, equal numbers come; and share of a result that hangs on these, from which on
all of it is a choice: the middle one of three has the same place in an order and its reverse."""
NEAR = 1e-3
"""Share of a result's size that numbers so near each other may move it by."""
Move = Callable[[torch.Tensor], torch.Tensor]


def compare_decided(
    outputs: list[torch.Tensor], case: Case, setting: Setting, *, all_integers: bool = False
) -> Verdict:
    """As `compare`; where that fails, of what is decided alone, or of `all_integers` and truth values beside."""
    problem, names = setting.reference.problem, setting.names
    verdict = _under_any_choice(outputs, case, setting)
    if verdict.passed:
        return verdict
    at = decided(setting, case, partial(_all_moved, setting, case), case.seed)
    if at is not None and all_integers:
        at = [here if t.is_floating_point() else torch.ones_like(here) for here, t in zip(at, case.native, strict=True)]
    return verdict if at is None else compare(settled(outputs, case, at), case, problem, names)


def compare_chosen(
    outputs: list[torch.Tensor], case: Case, setting: Setting, floors: Sequence[float] | None = None
) -> Verdict:
    """As `compare`; where that fails and the reference calls a function that chooses, but for the few places where
    equal numbers leave a choice: of a million normal numbers some are equal. Where many places do, none is left out.

    A choice falls one way in some orders and another in others. What is so for one number alone, as `x == -1` is,
    never is so once all are moved: that is none.
    """
    problem, names = setting.reference.problem, setting.names
    verdict = _under_any_choice(outputs, case, setting, floors)
    if verdict.passed or not where_possible(setting.reference, partial(chooses, setting, case.values)):
        return verdict
    found = _looked(setting, case, partial(_all_moved, setting, case), case.seed, FEW_DIGITS)
    at = [] if found is None else _if_mostly([always | ~ever for always, ever in found])
    if found is None or not all(here.any() or not here.numel() for here in at):
        return verdict
    return compare(settled(outputs, case, at), case, problem, names, floors)


def _under_any_choice(
    outputs: list[torch.Tensor], case: Case, setting: Setting, floors: Sequence[float] | None = None
) -> Verdict:
    problem, names = setting.reference.problem, setting.names
    return beside_any_choice(lambda each: compare(outputs, each, problem, names, floors), case, setting)


def _all_moved(setting: Setting, case: Case, move: Move) -> Values:
    """The case's values, all numbers moved."""
    return setting.kept([by_parts(move, v) if is_number(v) else v for v in case.values], case.values, apart=True)


def settled(outputs: list[torch.Tensor], case: Case, at: list[torch.Tensor]) -> list[torch.Tensor]:
    """The outputs there, and the reference's own elsewhere."""
    return [torch.where(asked, got, own) for asked, got, own in zip(at, outputs, case.native, strict=True)]


def decided(setting: Setting, case: Case, moved: Callable[[Move], Values], seed: int) -> list[torch.Tensor] | None:
    """For each result, where it is what slightly smaller numbers give, or slightly larger; None where nobody knows.

    Of either there are several, in which equal numbers come in other orders. So it is where numbers are compared
    with others. It is not where the order of equal ones decides, nor where their difference is taken and magnified.
    """
    found = _looked(setting, case, moved, seed, DIGITS)
    return None if found is None else _if_mostly([always for always, _ in found])


def _looked(
    setting: Setting, case: Case, moved: Callable[[Move], Values], seed: int, digits: int
) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
    """For each result, where it is the same for all smaller numbers or for all larger ones, and where for any of these.
    `digits`: by no more of the last ones than this are they smaller or larger."""
    found: list[tuple[torch.Tensor, torch.Tensor]] = []
    for way in (-1, 1):
        side: list[tuple[torch.Tensor, torch.Tensor]] = []
        for number in range(2 * ORDERS):
            values = moved(partial(_moved, seed + number // 2, way, number % 2 == 1, digits))
            outputs = where_possible(setting.reference, partial(setting.reference.outputs, setting.model, values))
            if outputs is None:
                return None
            alike = [near(own, other) for own, other in zip(case.native, outputs, strict=True)]
            side = [(a & b, c | b) for (a, c), b in zip(side, alike, strict=bool(side))] or [(b, b) for b in alike]
        found = [(a | b, c | d) for (a, c), (b, d) in zip(found, side, strict=bool(found))] or side
    return found


def _if_mostly(at: list[torch.Tensor]) -> list[torch.Tensor]:
    """Nowhere in a result that hangs on a choice at more than a few places."""
    return [here if _mostly(here) else torch.zeros_like(here) for here in at]


def shares_off(got: torch.Tensor, own: torch.Tensor) -> tuple[float, float]:
    """Of integers the share that are other ones, and by how much they differ in all, as a share; 0 of other results."""
    if own.is_floating_point() or own.is_complex() or own.dtype == torch.bool or not own.numel():
        return 0.0, 0.0
    off = (got.double() - own.double()).abs()
    return float((off != 0).double().mean()), float(off.sum() / own.double().abs().sum().clamp(min=1.0))


def _mostly(at: torch.Tensor) -> bool:
    return float(at.double().mean()) >= 1 - CHOSEN if at.numel() else True


def near(own: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Where two results are the same but for last digits."""
    if not (own.is_floating_point() or own.is_complex()):
        return own == other
    most = NEAR + 4 * _most(own.dtype) * torch.finfo(own.dtype).eps
    return ((own - other).abs() <= most * _usual(own.abs().double())) | (own == other)


def _usual(sizes: torch.Tensor) -> torch.Tensor:
    """Root mean square of what is finite: beside an infinite one all would be near. Where they are, not waited for."""
    return sizes.where(sizes.isfinite(), 0).square().mean().sqrt()


def _most(dtype: torch.dtype) -> int:
    """Last digits."""
    return int(min(DIGITS, max(2, FINEST / torch.finfo(dtype).eps)))


def _moved(seed: int, way: int, turned: bool, digits: int, value: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator(value.device).manual_seed(seed)
    most = min(_most(value.dtype), digits)
    steps = torch.randint(1, most + 1, value.shape, generator=generator, device=value.device)
    steps = most + 1 - steps if turned else steps
    wide = value.double()
    sizes = wide.abs()
    return (wide + way * steps * sizes.clamp(min=_usual(sizes)) * torch.finfo(value.dtype).eps).to(value.dtype)
