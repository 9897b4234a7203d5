"""One workload made ready: weights, input distributions and the layout of shared memory."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import torch

from kernwright.core.errors import UserError
from kernwright.core.problem import Workload
from kernwright.evaluation.calls import must_cross
from kernwright.evaluation.drawing.freedom import Freedom
from kernwright.evaluation.drawing.liberties import SLOW_DRAW_S, mixture_of, see_what_draws_share, settle_slow
from kernwright.evaluation.drawing.mixture import Mixture
from kernwright.evaluation.drawing.regularity import Regularity, is_definite, kept
from kernwright.evaluation.drawing.renewal import renewed
from kernwright.evaluation.errors.nans import hides_nan
from kernwright.evaluation.footprint import is_lean, late_bytes, nbytes_of
from kernwright.evaluation.numbers import is_number, varies
from kernwright.evaluation.participants.laying_out import lay_out_memory
from kernwright.evaluation.probes.late_probes import LateProbes
from kernwright.evaluation.weights.changes import Weight
from kernwright.evaluation.weights.following import followed_in
from kernwright.evaluation.weights.otherwise import Change

from .cases import Case, Later, Values
from .fan_in import fan_in
from .reference import Reference
from .shortage import where_possible
from .soundness import require_shapes, require_sound
from .wider import oracle_for

NEARLY = (0.9, 0.98)
"""Where a number comes to another place, as about so much of it: of two that are tied either may be chosen."""


@dataclass(slots=True)
class Setting:
    """A workload of one evaluation, under seeds that only the judge knows."""

    index: int
    workload: Workload
    reference: Reference
    init: Values
    init_seed: int
    model: torch.nn.Module
    double: torch.nn.Module | None
    bases: list[Case]
    draw_s: float = 0.0
    """What one draw of the generator takes."""
    renews: bool = False
    """Whether timed calls get values that are made anew of known draws."""
    state: dict[str, torch.Tensor] = field(default_factory=dict)
    state_specs: dict[str, dict[str, Any]] = field(default_factory=dict)
    followed: dict[str, Weight] = field(default_factory=dict)
    """What of the state results have to follow."""
    built_s: float = 0.0
    """What making its module again and calling it took, once that was done."""
    varied: bool = True
    """Whether equal weights were moved apart, so that no constructor knows them."""
    input_specs: list[list[dict[str, Any] | None]] = field(default_factory=list)
    """One list per input set."""
    set_bytes: int = 0
    """Of one input set; 0 where no input is a tensor, and where the device has no room for several."""
    mixes: bool = True
    """Whether the reference makes sense of values that were put together from several draws."""
    regular: dict[int, Regularity] = field(default_factory=dict)
    """What every draw of an input keeps, by the input's number."""
    marks: frozenset[int] = frozenset()
    """Floating inputs that stay as they were drawn, by number, but for another arrangement where they are free too."""
    held: frozenset[int] = frozenset()
    """Symmetric inputs, by number: mostly such a matrix is more than that, and one that is put together is not."""
    tied: frozenset[int] = frozenset()
    """Inputs of which the reference bears none but drawn values, while others may be put together."""
    free: dict[int, Freedom] = field(default_factory=dict)
    """How inputs of integers, and a mark, may be rearranged, by the input's number."""
    overlapping: bool = False
    """Whether input sets lie over one another, a little apart."""
    output_shapes: list[torch.Size] = field(default_factory=list)
    still: frozenset[int] = frozenset()
    """Outputs that are empty, or one value all over, as they were first drawn."""
    output_specs: list[dict[str, Any]] = field(default_factory=list)
    output_strides: list[list[int] | None] = field(default_factory=list)
    """Of the reference's; None of gradients, which autograd lets lie where they like."""
    names: list[str] = field(default_factory=list)
    """What the results of a call are called: outputs, then gradients where these are asked for."""
    keys: Any = None
    """Those of the reference's results where these are dictionaries, as a runner is told."""
    sizes: tuple[int, int, int] = (0, 0, 0)
    """Bytes of the memory that is shared for weights, inputs and outputs; specs count within each."""
    output_bytes: int = 0
    """Of what one call gives."""
    traffic_bytes: int = 0
    """Of inputs, weights and outputs of one call."""
    lean: bool = False
    """Whether cases are made anew at each use, because the device has no room for several."""
    borne: dict[str | int, Change | None] = field(default_factory=dict)
    """Of weights, by name, and of inputs that draws have alike, by number, once that was looked at: which change of all
    their numbers the reference bears."""
    constants: list[int] | None = None
    """Inputs of which draws have all numbers alike, or most, once that was looked at."""
    mixture: Mixture | None = None
    """How timed calls may have values that differ in part from the generator's."""
    lasts: list[bool] | None = None
    """Of each result whether it has memory of its own by the reference, once that was looked at."""
    early_ns: list[float] = field(default_factory=list)
    """What a candidate's calls with the generator's values took before any was timed, by the judge's clock."""
    late: LateProbes | None = None
    """Probes among its timed calls, where there are any and there is room."""

    @property
    def fan_in(self) -> tuple[float, ...]:
        """For each output the input elements behind one of its elements; empty where that is not known."""
        return self.reference.known.get(self.workload, "fan_in", ())

    def case(self, values: Values, label: str, seed: int) -> Case:
        """What the reference and the oracle make of these values.

        Raises:
            UserError: the reference refuses them, or makes results of other shapes of them.
        """
        case = self.reference.case(self.model, self.double, values, label, seed, self.fan_in, self.lean)
        require_shapes(self.output_shapes, case.native, self.workload.name)
        return case

    def drawn(self, rng: random.Random) -> Values:
        """Values of which nothing was seen before: a new draw, or made anew of known ones where draws are slow."""
        if self.renews:
            values = renewed([base.values for base in self.bases], self.free, rng)
            return self.kept(values, values)
        return self.reference.inputs(self.workload, rng.getrandbits(48))

    def another(self, rng: random.Random) -> Later:
        """A case of which nothing was seen before."""
        if self.renews:
            values, label, seed = self.drawn(rng), "made anew of known draws", self.bases[0].seed
        else:
            label, seed = "generator", rng.getrandbits(48)
            values = self.reference.inputs(self.workload, seed)
        return Later(values, label, seed, partial(self.case, values, label, seed))

    def recombined(self, rng: random.Random) -> Values:
        """Another arrangement of known values, cheaply: stretches of one base in another, single elements moved.

        Every element stays at its place in a draw of the generator, or comes from the same tensor, so
        ranges and integer vocabularies hold. Integers are those of one base: places and lengths belong together.
        """
        if not self.mixes:
            return rng.choice(self.bases).values
        mixed = []
        base = rng.choice(self.bases).values
        for index, value in enumerate(base):
            if self.alters(index, value):
                value = value if self.lean else value.clone()  # there each look at a base draws it anew
                _splice(value, rng.choice(self.bases).values[index], rng)
                _move_one(value, rng)
            mixed.append(value)
        return self.kept(mixed, base)

    def alters(self, number: int, value: Any) -> bool:
        """Whether an input may have other values than a draw gave it."""
        return is_number(value) and number not in self.marks | self.held | self.tied

    def mixable(self, number: int, value: Any) -> bool:
        """Whether any element of an input may be that of another draw at this place."""
        by_element = number not in self.regular or self.regular[number].by_element
        return self.mixes and by_element and self.alters(number, value)

    def nudge(self, values: Values, rng: random.Random) -> None:
        """Change a stretch and an element of such values in place, as cheaply as can be."""
        base = rng.choice(self.bases).values
        for number, value in enumerate(values):
            if self.mixable(number, value) and value.dim():
                axis = rng.choice([axis for axis, size in enumerate(value.shape) if size > 1] or [0])
                _splice(value.movedim(axis, 0), base[number].movedim(axis, 0), rng)
                if number not in self.regular:
                    _move_one(value, rng)

    def mixed(self, values: Values, kind: str | None, rng: random.Random) -> Values:
        """The values, some of them other than the generator's where a kind of these is asked for."""
        if kind is None or self.mixture is None:
            return values
        return self.kept(self.mixture.applied(values, kind, rng), values)

    def grown(self, change: Callable[[Any], Any], values: Values) -> Values:
        """All of them changed but marks and orthogonal ones; by what leaves a symmetric one what it may be beside."""
        stays = self.marks | {number for number in self.regular if self.is_rigid(number)}
        return kept([v if n in stays else change(v) for n, v in enumerate(values)], self.regular)

    def is_rigid(self, number: int) -> bool:
        """Whether no number of an input may be another one by itself."""
        return number in self.regular and self.regular[number].orthogonal

    def kept(self, values: Values, drawn: Values | None = None, *, apart: bool = False) -> Values:
        """Values that the judge has made up, of those that were `drawn`, with whatever all draws have in common;
        `apart`: they differ from these in last digits alone, each number by itself."""
        if stays := self.marks | self.held | (frozenset() if apart else self.tied):
            source = drawn if drawn is not None else self.bases[0].values
            values = [source[n] if n in stays else value for n, value in enumerate(values)]
        return kept(values, self.regular, apart=apart)


@dataclass(frozen=True, slots=True)
class DrawnAgain:
    """A case that is made anew whenever it is looked at, for workloads of which the device holds few."""

    setting: Setting
    seed: int
    label: str = "generator"

    @property
    def fan_in(self) -> tuple[float, ...]:
        """As the setting's."""
        return self.setting.fan_in

    @property
    def values(self) -> Values:
        """As the generator gives them under the seed."""
        return self.setting.reference.inputs(self.setting.workload, self.seed)

    @property
    def native(self) -> list[torch.Tensor]:
        """What the reference makes of them."""
        return self.setting.reference.outputs(self.setting.model, self.values)

    @property
    def oracle(self) -> list[torch.Tensor]:
        """The same."""
        return self.native


def prepare(
    reference: Reference, workload: Workload, index: int, rng: random.Random, *, vary: bool, bases: int = 3
) -> Setting:
    """Build models and base cases for one workload and lay out the memory that a runner shares.

    Raises:
        UserError: the workload cannot be judged (`require_sound`, once per reference and workload).
    """
    seeds = [rng.getrandbits(48) for _ in range(bases + 2)]
    init = reference.init(workload)
    must_cross(init, "get_init_inputs()")
    model = reference.model(workload, init, seeds[0], seeds[1] if vary else None)
    start = perf_counter()
    first = reference.inputs(workload, seeds[2])
    draw_s = perf_counter() - start
    native = reference.see_whether_it_mutates(model, first)
    if not any(t.numel() for t in native):
        raise UserError(f"the outputs of workload {workload.name!r} have no elements; give it larger shapes.")
    lean = is_lean(reference, nbytes_of((*first, *native)))
    reference.known.once(workload, "fan_in", partial(_fan_in, reference, model, first, native))
    shapes = [t.shape for t in native]
    still = frozenset(n for n, t in enumerate(native) if not varies(t))
    del native
    double = None if lean else oracle_for(reference, model, first)
    setting = Setting(
        index,
        workload,
        reference,
        init,
        seeds[0],
        model,
        double,
        [],
        draw_s,
        lean=lean,
        varied=vary,
        output_shapes=shapes,
        still=still,
    )
    setting.followed = followed_in(reference, workload, init, seeds[0], model, first)
    for seed in seeds[2:]:
        values = first if seed == seeds[2] else _same_layout(reference.inputs(workload, seed), first, workload)
        setting.bases.append(DrawnAgain(setting, seed) if lean else setting.case(values, "generator", seed))
    see_what_draws_share(setting, [first, *([] if lean else [base.values for base in setting.bases[1:]])], rng)
    if not lean:
        setting.mixture = mixture_of(setting, rng)
        if not workload.held_out:
            setting.late = LateProbes(late_bytes(reference.place.memory_bytes, len(reference.problem.timed)))
    if draw_s > SLOW_DRAW_S:
        settle_slow(setting, rng)
    lay_out_memory(setting)
    reference.known.once(workload, "sound", partial(require_sound, setting))
    return setting


def _fan_in(
    reference: Reference, model: torch.nn.Module, values: Values, native: list[torch.Tensor]
) -> tuple[float, ...]:
    """Found out once for each workload; nothing where the reference refuses such values."""
    generator = torch.Generator(reference.place.device).manual_seed(0)
    call = partial(reference.outputs, model)
    return where_possible(reference, lambda: fan_in(call, values, native, generator)) or ()


def scaled(setting: Setting, rng: random.Random) -> Case | None:
    """A base with its floats scaled and signs mixed, where the reference stays as finite as it was."""
    base = rng.choice(setting.bases)
    for flip in (True, False):
        factor = rng.choice([0.3, 0.6, 2.5, 5.0]) * rng.uniform(0.9, 1.1)
        generator = torch.Generator(setting.reference.place.device).manual_seed(rng.getrandbits(48))
        values = setting.grown(partial(_rescale, factor, flip, generator), base.values)
        label = f"scaled by {factor:.2f}" + (", signs mixed" if flip else "")
        try:
            case = setting.case(values, label, base.seed)
            hidden = hides_nan(setting, values)
        except UserError:
            continue
        made = (*case.native, *([] if setting.lean else case.oracle))
        if not hidden and all(bool(torch.isfinite(t).all()) for t in made):
            return case
    return None


def _rescale(factor: float, flip: bool, generator: torch.Generator, value: Any) -> Any:
    if not is_number(value):
        return value
    scaled = value * factor
    if flip and not is_definite(value):
        # Bytes: where inputs fill a device, wider numbers of as many would have no room beside them.
        signs = torch.randint(0, 2, value.shape, generator=generator, device=value.device, dtype=torch.int8)
        scaled.mul_(signs.mul_(2).sub_(1))
    return scaled


def _splice(target: torch.Tensor, other: torch.Tensor, rng: random.Random) -> None:
    rows = target.shape[0] if target.dim() else 1
    if target.dim() == 0:
        return
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(rows)
        stop = rng.randint(start + 1, rows)
        target[start:stop] = other[start:stop]


def _move_one(target: torch.Tensor, rng: random.Random) -> None:
    if target.dim() == 0:
        return
    place, source = ([rng.randrange(n) for n in target.shape] for _ in range(2))
    target[tuple(place)] = target[tuple(source)] * rng.uniform(*NEARLY)


def _same_layout(values: Values, first: Values, workload: Workload) -> Values:
    for a, b in zip(values, first, strict=False):
        if isinstance(a, torch.Tensor) != isinstance(b, torch.Tensor) or (
            isinstance(a, torch.Tensor) and (a.shape != b.shape or a.dtype != b.dtype)
        ):
            raise UserError(
                f"get_inputs() of workload {workload.name!r} gives other shapes under another seed; "
                "a workload must have fixed shapes and dtypes."
            )
    return values
