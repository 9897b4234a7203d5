"""What the judge may make up for a workload: values of which the reference makes as much sense as of drawn ones."""

import random
from collections.abc import Callable, Collection
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch

from kernwright.core.errors import UserError
from kernwright.evaluation.errors.magnifying import magnifies
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.numbers import is_number
from kernwright.evaluation.probes.single_constants import single_constants, with_others
from kernwright.evaluation.problem.cases import Values
from kernwright.evaluation.problem.shortage import where_possible

from .freedom import Freedom, freedoms_with_marks, holds_integers
from .mixture import Mixture, mixture
from .provenance import UNKNOWN, kind_of
from .regularity import Regularity, marks, regularities
from .renewal import is_renewable

if TYPE_CHECKING:
    from kernwright.evaluation.problem.setting import Setting

SLOW_DRAW_S, MOST_DRAW_S = 0.25, 5.0
"""Above the first, new draws for every timed call would take longer than all else, so that values are made anew from
known ones. Where these hang together, there are new draws up to the second, and no judgement beyond."""
MAGNIFIED_TRIES, MAGNIFIED_TIMES, MAGNIFIED_S = 6, 2, 0.5
"""So many values with larger numbers are looked at for whether last digits count far more in so many of them, until so
much time is gone."""
MOST_APART = 6
"""Inputs of which it is looked at whether they alone may be recombined, where all together may not."""
MIXED_TRIES = 4
"""Arrangements of known values that the reference has to make sense of, before others are tried on a candidate."""


def see_what_draws_share(setting: "Setting", draws: list[Values], rng: random.Random) -> None:
    """So that values which are made up have it too. A lean workload has room for two draws, and none to go through the
    orders of integers."""
    reference = setting.reference

    def seen() -> tuple[dict[int, Regularity], frozenset[int]]:
        looked_at = [*draws, *([setting.bases[1].values] if setting.lean else [])]
        marked = marks(looked_at)
        return regularities(looked_at, marked), marked

    found = where_possible(reference, seen)
    if found is None:  # nobody knows what may be made up
        setting.mixes = False
        reference.known.put(setting.workload, "tied", None)
        return
    setting.regular, setting.marks = found
    setting.held = frozenset(n for n, r in setting.regular.items() if r.held)
    for number, regularity in setting.regular.items():
        if number not in setting.marks:
            reference.note(f"input {number} keeps what its draws have in common: {regularity.described()}")
    for number, values in enumerate(zip(*draws, strict=True)):
        if _is_always(values) or number in _plain(setting, draws[0]):
            reference.note(f"input {number} is the same in every draw: it belongs to the problem, and may be relied on")
    if not setting.lean:
        setting.free = reference.known.once(setting.workload, "free", partial(_free, setting, draws))
    for number in sorted(setting.marks):
        freedom = setting.free.get(number)
        kept = "has no numbers but drawn ones" if freedom and freedom.exchange else "stays as it was drawn"
        reference.note(f"input {number} {kept}: its numbers are whole, or of a few kinds")
    for number in single_constants(draws):
        if setting.lean or with_others(setting, setting.bases[0], [number], rng) is None:
            reference.note(f"input {number} is one number, the same in every draw, and was never another one")
    setting.mixes = where_possible(reference, lambda: _mixes(setting, rng)) or False


def _free(setting: "Setting", draws: list[Values]) -> dict[int, Freedom]:
    if not setting.marks and not holds_integers(draws[0]):
        return {}
    bound = {n for n, r in setting.regular.items() if r.places}
    origins = setting.reference.origins(setting.workload)
    free = freedoms_with_marks(draws, setting.marks, bound, origins)
    for number, values in enumerate(zip(*draws, strict=True)):
        if holds_integers(values) and kind_of(origins, number) == UNKNOWN and not _is_always(values):
            setting.reference.note(f"input {number} stays as it was drawn: it may hang together with others")
    return free


def _is_always(values: tuple[Any, ...]) -> bool:
    """Whether an input of integers or truth values never varies; other numbers are made up, and have to be followed."""
    first = values[0]
    known = isinstance(first, torch.Tensor) and not is_number(first) and first.numel() > 1 and len(values) > 1
    return known and all(torch.equal(first, other) for other in values[1:])


def _plain(setting: "Setting", values: Values) -> Collection[int]:
    """Numbers of Python's that are always the same; of what takes long to draw nobody knows."""
    if setting.lean or setting.draw_s > SLOW_DRAW_S or not any(isinstance(value, int | float) for value in values):
        return ()
    return setting.reference.how_made(setting.workload).plain


def mixture_of(setting: "Setting", rng: random.Random) -> Mixture | None:
    """Which other values timed calls may get; found out once for each workload."""
    if setting.workload.held_out or not setting.mixes or len(setting.bases) < 2:
        return None

    def bears(values: Values) -> bool:
        return _bears(setting, lambda: setting.kept(values, setting.bases[0].values))

    def found() -> Mixture | None:
        draws = [base.values for base in setting.bases]
        away = [number for number, regularity in setting.regular.items() if regularity.extent is not None]
        native = setting.bases[0].native
        made = mixture(draws, setting.free, native, bears, rng, setting.marks | setting.held | setting.tied, away)
        return made.within_range() if made is not None and _magnifies(setting, made, rng) else made

    return setting.reference.known.once(setting.workload, "mixture", found)


def _magnifies(setting: "Setting", mixed: Mixture, rng: random.Random) -> bool:
    """Whether the reference magnifies last digits where numbers are larger than drawn, as where diagonals no longer
    outweigh their rows: by how much two right kernels differ there is chance. Once alone a sum is small by chance."""
    if mixed.strength is None or setting.double is None:
        return False
    base, start, count = setting.bases[0], perf_counter(), 0

    def found(number: int) -> bool:
        values = setting.kept(mixed.at_worst(base.values, rng), base.values)
        return magnifies(setting.case(values, "mixed", base.seed), setting, number)

    for number in range(MAGNIFIED_TRIES):
        count += bool(where_possible(setting.reference, partial(found, number)))
        if count == MAGNIFIED_TIMES or perf_counter() - start > MAGNIFIED_S:
            break
    return count == MAGNIFIED_TIMES


def settle_slow(setting: "Setting", rng: random.Random) -> None:
    """Whether known values can be made anew, and a note of it, where the generator is slow.

    Raises:
        UserError: they cannot, and new draws would take too long.
    """
    reference, draws = setting.reference, [] if setting.lean else [base.values for base in setting.bases]
    able = (
        setting.mixes
        and setting.marks | setting.held | setting.tied <= setting.free.keys()
        and is_renewable(draws, setting.free)
    )
    setting.renews = able and _bears_renewed(setting, rng)
    if setting.renews:
        reference.note("get_inputs() is slow, so timed calls got values made anew from known draws, not new draws")
        return
    reference.note("get_inputs() is slow and its values hang together, so every timed call waited for a new draw")
    if setting.draw_s > MOST_DRAW_S and not setting.workload.held_out:
        raise UserError(
            f"get_inputs() of workload {setting.workload.name!r} takes {setting.draw_s:.1f} s, and new values cannot "
            "be made from known ones, since their order or relations may matter, and each timed call needs new ones: "
            f"make it faster than {MOST_DRAW_S:g} s."
        )


def _mixes(setting: "Setting", rng: random.Random) -> bool:
    """Found out once for each workload, as is which inputs are tied."""
    tied = setting.reference.known.once(setting.workload, "tied", partial(_tied, setting, rng))
    setting.tied = tied or frozenset()
    return tied is not None


def _tied(setting: "Setting", rng: random.Random) -> frozenset[int] | None:
    """Inputs that have to stay as they were drawn, such as shares whose rest is asked for a logarithm, or a matrix for
    its Cholesky factor; None where others may not be recombined either."""
    if _bears_recombined(setting, rng):
        return frozenset()
    changed = frozenset(n for n, value in enumerate(setting.bases[0].values) if setting.alters(n, value))
    if len(changed) > 1:
        tied = changed - {n for n in sorted(changed)[:MOST_APART] if _bears_recombined(setting, rng, changed - {n})}
        if tied < changed and _bears_recombined(setting, rng, tied):
            names = ", ".join(map(str, sorted(tied)))
            setting.reference.note(f"of inputs {names} known values are not recombined: they may hang together")
            return tied
    setting.reference.note("known values are not recombined: the reference makes nothing of them")
    return None


def _bears_recombined(setting: "Setting", rng: random.Random, tied: frozenset[int] = frozenset()) -> bool:
    count = 1 if setting.lean else MIXED_TRIES  # there each takes several draws
    setting.tied = tied
    try:
        return all(_bears(setting, partial(setting.recombined, rng)) for _ in range(count))
    finally:
        setting.tied = frozenset()


def _bears_renewed(setting: "Setting", rng: random.Random) -> bool:
    setting.renews = True
    return _bears(setting, partial(setting.drawn, rng))


def _bears(setting: "Setting", make: Callable[[], Values]) -> bool:
    """Whether the reference stays as finite as it is on the generator's values."""
    usual = [bool(torch.isfinite(t).all()) for t in setting.bases[0].native]
    try:
        values = make()
        outputs = setting.reference.outputs(setting.model, values)
        if [t.shape for t in outputs] != setting.output_shapes:
            return False
        return [bool(torch.isfinite(t).all()) for t in outputs] == usual and not hides_nan(setting, values)
    except UserError:
        return False
