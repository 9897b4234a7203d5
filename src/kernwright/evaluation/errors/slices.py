"""Whether every part of an output was computed: the rule of errors goes by the size of the whole.

Where features have other units each, whole rows and columns are smaller than what rounding explains of the largest,
and could be left at 0. So wherever PyTorch's own result has digits in a part of an output, a candidate's must be that
part and not nothing: no error beyond `allowance.GROSS` of its size. Parts are all slices along all axes, tiles of two
axes whose places are in order of size, so that what is small in both is found wherever it lies, and short stretches;
where an axis has places of too few numbers, also numbers of like size wherever they lie, as units that take turns; and
of few results each number by itself.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import torch

from kernwright.evaluation.numbers import is_number, real
from kernwright.evaluation.problem.cases import Asked, Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .allowance import GROSS, chains_of, unavoidable
from .breaking_ties import beside_any_choice
from .by_size import summed_by_size
from .comparison import Verdict
from .ties import moved_by_rounding

KNOWN = 0.002
"""Share of a part's size up to which PyTorch's own error leaves no doubt what the part is."""
NEAR = 0.2
"""A result that is as near to PyTorch's own, which itself is as near to the oracle's, is within GROSS of that."""
LEAST, FEW = 8, 64
"""Elements of a part: one alone may be as small as it likes by chance. So few results are likely to have units of their
own, and how large each usually is can be told from several draws."""
STRETCHES = 4096
"""Most stretches that a flat output is cut into."""
TILES = 8
"""Parts of an axis, for tiles."""
PAIRS = 3
"""Pairs of axes that are looked at."""
AT_A_TIME, AT_A_TIME_ON_DEVICE = 1 << 17, 1 << 25
"""Elements: so many stay in a core's cache, or leave room on a device."""
HOMOGENEOUS, DIGITS = 0.9, 8.0
"""Share of numbers that are a power of two times larger, but for so many epsilons, where inputs are twice as large."""

Cut = tuple[int, ...]
"""Axes whose places together make a part."""
LIKE: Cut = (-1,)
"""Numbers of like size."""


@dataclass(frozen=True, slots=True)
class _Worst:
    where: str
    share: float
    error: float
    """Root mean square."""


def parts_met(setting: Setting, case: Case, outputs: Sequence[torch.Tensor]) -> Verdict:
    """For outputs that met the rule of errors. Where the reference does not run in float64 nobody knows."""
    return beside_any_choice(partial(_parts_met, setting, outputs), case, setting)


def _parts_met(setting: Setting, outputs: Sequence[torch.Tensor], case: Case) -> Verdict:
    passed = Verdict(passed=True, ratio=0.0)
    if not isinstance(case, Asked) or case.wide is None:
        return passed
    for index, (got, native) in enumerate(zip(outputs, case.native, strict=True)):
        if not _has_parts(native):
            continue
        known = [_laid(got), _laid(native)]
        if bool(_near(*known)) and not _by_number(known[1]):
            continue
        true, moved = _laid(case.oracle[index]), _moved(setting, case, case.wide, index)
        known += [true, true if moved is None else _laid(moved)]
        usual = _usual(setting, index, true) if true.numel() <= FEW else None
        worst = _beyond(known, setting.reference.problem.tolerance.rms_ratio, usual)
        excused = _excused(setting, case, index) if worst else 0.0
        for found in worst:
            if not found.error <= excused:
                detail = f"{setting.names[index]}, {found.where}: off by {found.share:.0%} of its own size"
                return Verdict(passed=False, ratio=found.share / GROSS, detail=detail)
    return passed


def parts_near(case: Case, outputs: Sequence[torch.Tensor]) -> torch.Tensor:
    """Whether `parts_met` needs no oracle to say that they are; a truth value where the outputs are, not waited for."""
    asked = [(_laid(got), _laid(own)) for got, own in zip(outputs, case.native, strict=True) if _has_parts(own)]
    if not asked or not isinstance(case, Asked) or case.wide is None:
        return torch.ones((), dtype=torch.bool, device=outputs[0].device if outputs else None)
    return torch.stack([_near(got, own) for got, own in asked]).all()


def _has_parts(native: torch.Tensor) -> bool:
    return (native.is_floating_point() or native.is_complex()) and native.numel() > 1


def _laid(output: torch.Tensor) -> torch.Tensor:
    """As it is cut up: few results are a line of numbers."""
    return real(output).flatten() if output.numel() <= FEW else real(output)


def _least(native: torch.Tensor) -> int:
    """Elements of a part of this output."""
    return 1 if native.numel() <= FEW else LEAST


def _by_number(native: torch.Tensor) -> bool:
    """Whether numbers of like size are parts too, wherever they lie: there are slices that are too short to be."""
    return () in _cuts(native)[0]


def _moved(
    setting: Setting, case: Case, wide: Callable[[Values], list[torch.Tensor]], index: int
) -> torch.Tensor | None:
    """The oracle for inputs that were rounded to what the rules allow inside."""
    moved = where_possible(
        setting.reference, lambda: wide(moved_by_rounding(case.values, setting.reference.problem, 0))
    )
    fits = moved is not None and len(moved) == len(case.native) and moved[index].shape == case.native[index].shape
    return moved[index] if moved is not None and fits else None


def _usual(setting: Setting, index: int, true: torch.Tensor) -> torch.Tensor | None:
    """How large each of few results is among the bases, and the more where any of these is larger than there."""
    known = [_laid(base.oracle[index]) for base in setting.bases]
    if any(each.shape != true.shape for each in known):
        return None
    usual = torch.stack(known).square().mean(0).sqrt()
    return usual * (true.abs() / usual).nan_to_num(nan=0.0, posinf=0.0).amax().clamp(min=1.0)


def _cuts(native: torch.Tensor) -> tuple[list[Cut], list[Cut]]:
    """Axes whose places make parts that are large enough, and pairs of them; no axis: stretches of the flat output.

    Stretches only where an axis has places that are too small.
    """
    long = [axis for axis, size in enumerate(native.shape) if size > 1]
    each: list[Cut] = [(axis,) for axis in long if native.numel() // native.shape[axis] >= _least(native)]
    pairs: list[Cut] = [*combinations(long, 2)] if native.numel() >= LEAST * TILES**2 else []
    return each if len(each) == len(long) else [*each, ()], pairs[:PAIRS]


def _near(got: torch.Tensor, native: torch.Tensor) -> torch.Tensor:
    """Whether all parts are so near to PyTorch's own that nobody needs an oracle; in a narrow type, which is quick."""
    dtype, floor = torch.promote_types(native.dtype, torch.float32), torch.finfo(native.dtype).tiny

    def squares(got: torch.Tensor, own: torch.Tensor) -> list[torch.Tensor]:
        error = got - own
        return [own * own, error * error]

    def near(sums: Sequence[torch.Tensor]) -> torch.Tensor:
        size, error = sums
        count = native.numel() / size.numel()
        fine = (error <= NEAR**2 * size) | (size <= floor * count)
        return (fine & torch.isfinite(size)).all()

    each, pairs = _cuts(native)
    sums = _summed([got, native], each, {}, squares, dtype)
    places = _by_size(native, pairs, {cut[0]: sums[cut][0] for cut in each if cut})
    tiled = _summed([got, native], pairs, places, squares, dtype)
    return torch.stack([near(found) for found in (*sums.values(), *tiled.values())]).all()


def _beyond(tensors: Sequence[torch.Tensor], ratio: float, usual: torch.Tensor | None = None) -> list[_Worst]:
    """The worst part of each way to cut the output up, where there is one that is off.

    Of the candidate's result, PyTorch's own, the oracle's, and that of rounded inputs. `usual`: sizes of few results,
    none of which counts as smaller.
    """
    native, found = tensors[1], []
    floor = torch.finfo(native.dtype).tiny  # of sizes below its root squares may be none
    each, pairs = _cuts(native)
    sums = _summed(tensors, each, {}, _squares)
    places = _by_size(native, pairs, {cut[0]: sums[cut][1] for cut in each if cut})
    tiles = _summed(tensors, pairs, places, _squares)
    numbers = {LIKE: summed_by_size(tensors[2], partial(_pieces, tensors), _squares)} if () in each else {}
    for cut, parts in (sums | tiles | numbers).items():
        count, size, error, own, moved = parts
        size = size if usual is None else torch.maximum(size, usual * usual)
        judged = (size > floor * count) & (count >= _least(native)) & (own <= KNOWN**2 * size)
        allowed = torch.stack([GROSS**2 * size, ratio**2 * own, ratio**2 * moved]).amax(0)
        bad = judged & ~(error <= allowed)
        if bool(bad.any()):
            over = torch.where(bad, (error / size).nan_to_num(nan=torch.inf), -1.0)
            place = int(over.argmax())
            rms = math.sqrt(float(error.flatten()[place] / count.flatten()[place]))
            found.append(_Worst(_named(cut, place, error.shape), math.sqrt(float(over.max())), rms))
    return found


def _squares(got: torch.Tensor, own: torch.Tensor, true: torch.Tensor, moved: torch.Tensor) -> list[torch.Tensor]:
    """Whether an element counts, then squares of its size and of all errors."""
    known = torch.isfinite(own) & torch.isfinite(true)
    numbers = (torch.where(known, each, 0.0) for each in (true, got - true, own - true, moved - true))
    return [known.double(), *(number * number for number in numbers)]


def _named(cut: tuple[int, ...], place: int, shape: torch.Size) -> str:
    if not cut:
        return f"part {place} of {shape[0]}"
    if cut == LIKE:
        return f"the numbers that are number {place + 1} of {shape[0]} in order of size"
    if len(cut) == 1:
        return f"the slice at {place} of axis {cut[0]}"
    return f"what is {'small' if place < shape[0] * shape[1] / 2 else 'large'} along axes {cut[0]} and {cut[1]}"


def _by_size(native: torch.Tensor, pairs: Sequence[Cut], sizes: dict[int, torch.Tensor]) -> dict[int, torch.Tensor]:
    """For each place of an axis that is in a pair which of `TILES` it belongs to, the smallest first."""
    places = {}
    for axis in {axis for pair in pairs for axis in pair}:
        count = native.shape[axis]
        # Where slices are too few elements to be parts, tiles of neighbours are as good as any.
        order = sizes[axis].argsort().argsort() if axis in sizes else torch.arange(count, device=native.device)
        places[axis] = order * min(TILES, count) // count
    return places


def _summed(
    tensors: Sequence[torch.Tensor],
    cuts: Sequence[Cut],
    places: dict[int, torch.Tensor],
    make: Callable[..., list[torch.Tensor]],
    dtype: torch.dtype = torch.float64,
) -> dict[Cut, list[torch.Tensor]]:
    """What is made of the tensors, a piece of the first axis at a time, summed within each part of each cut."""
    if () in cuts:
        width = max(LEAST, -(-tensors[0].numel() // STRETCHES))
        flat = [t.flatten()[: t.numel() // width * width].view(-1, width) for t in tensors]
        some = [cut for cut in cuts if cut]
        rest = _summed(tensors, some, places, make, dtype) if some else {}
        return rest | {(): _summed(flat, [(0,)], {}, make, dtype)[0,]}
    sums: dict[Cut, list[torch.Tensor]] = {cut: [] for cut in cuts}
    if not cuts:
        return sums
    marks = {axis: _marks(place, min(TILES, len(place))).to(dtype) for axis, place in places.items()}
    for start, pieces in _pieces(tensors, dtype):
        made = make(*pieces)
        for cut, known in sums.items():
            parts = [_parts(each, start, cut, marks) for each in made]
            if cut == (0,):
                known[:] = [torch.cat(pair) for pair in zip(known, parts, strict=True)] if known else parts
            else:
                known[:] = [a.add_(b) for a, b in zip(known, parts, strict=True)] if known else parts
    return sums


def _marks(places: torch.Tensor, count: int) -> torch.Tensor:
    """Of each the column of its number; `one_hot` may wait for the device, to look at them."""
    return places[:, None] == torch.arange(count, device=places.device)


def _pieces(tensors: Sequence[torch.Tensor], dtype: torch.dtype) -> Iterator[tuple[int, list[torch.Tensor]]]:
    rows = tensors[0].shape[0]
    most = AT_A_TIME if tensors[0].device.type == "cpu" else AT_A_TIME_ON_DEVICE
    step = max(1, most * rows // max(1, tensors[0].numel()))
    for start in range(0, rows, step):
        yield start, [t[start : start + step].to(dtype) for t in tensors]


def _parts(made: torch.Tensor, start: int, cut: Cut, marks: dict[int, torch.Tensor]) -> torch.Tensor:
    others = [axis for axis in range(made.dim()) if axis not in cut]
    part = made.sum(others) if others else made
    if len(cut) == 1:
        return part
    first, second = (marks[axis][start : start + made.shape[0]] if axis == 0 else marks[axis] for axis in cut)
    return first.T @ part @ second


def _excused(setting: Setting, case: Case, index: int) -> float:
    """An error that is none where a result is small because what it is the difference of is not, as 0.5 - 0.5 is.

    Numbers of size 1 are rounded in float32 whatever comes of them. Nothing of the kind is known of a reference whose
    results are a power of two times larger where inputs are twice as large: it knows of no such number as 1.
    """
    native = case.native[index]
    values = setting.grown(lambda v: v * 2 if is_number(v) else v, case.values)
    twice = where_possible(setting.reference, partial(setting.reference.outputs, setting.model, values))
    if twice is not None and _is_homogeneous(real(native), real(twice[index])):
        return 0.0
    size = float(torch.linalg.vector_norm(native, dtype=torch.float64 if native.is_floating_point() else None))
    problem = setting.reference.problem
    return unavoidable(problem, native.dtype, chains_of(case, problem)[index]) * min(
        1.0, size / math.sqrt(native.numel())
    )


def _is_homogeneous(once: torch.Tensor, twice: torch.Tensor) -> bool:
    some = (once != 0) & torch.isfinite(once) & torch.isfinite(twice)
    digits = [torch.frexp(each[some].double()).mantissa for each in (once, twice)]
    if not digits[0].numel() or torch.equal(once, twice):
        return False
    near = (digits[0] - digits[1]).abs() <= DIGITS * torch.finfo(once.dtype).eps
    return float(near.double().mean()) >= HOMOGENEOUS
