"""Problems whose answer says little: what a kernel that does less than asked would get away with."""

import inspect
from collections.abc import Iterable, Iterator
from functools import partial

import torch

from kernwright.core.report import Finding
from kernwright.evaluation.errors.allowance import GROSS
from kernwright.evaluation.errors.comparison import compare
from kernwright.evaluation.numbers import is_number, is_short, real
from kernwright.evaluation.runner.structure import distinct

from .digitless import digitless, sentence
from .setting import Setting
from .shortage import where_possible

SOME = 4096
"""Numbers of an output that tell whether all may be the same."""
MOST_WEIGHTS = 64
"""Weights that are looked at; one run of the reference each."""


def findings(setting: Setting) -> Iterator[Finding]:
    """Everything degenerate about one workload.

    Each question is put to the judge's own comparison: would an answer that leaves something out pass? One for which
    memory does not suffice is not asked, and a note says so.
    """
    ask = partial(where_possible, setting.reference)
    yield from ask(lambda: [*_infinite(setting)]) or ()
    if setting.reference.mutates:
        yield _finding(setting, "changes_inputs", "the module changes its inputs, which no candidate may do")
    if lost := ask(partial(digitless, setting)):
        yield _finding(setting, "no_right_digit", sentence(setting, lost))
    outputs = range(len(setting.output_shapes))
    hollow = hollow_outputs(setting)
    for said in hollow.values():
        yield _finding(setting, "constant_output", said)
    fixed = [index for index in outputs if ask(partial(_same_for_every_seed, setting, index))]
    for index in fixed:
        if index not in hollow:
            yield _finding(setting, "same_for_every_seed", f"output {index} does not depend on the inputs' values")
    if len(fixed) == len(outputs):
        return
    yield from ask(lambda: [*_flat_axes(setting, {*hollow, *fixed})]) or ()
    yield from ask(lambda: [*_unused_inputs(setting)]) or ()
    yield from ask(lambda: [*_unused_weights(setting)]) or ()


def hollow_outputs(setting: Setting) -> dict[int, str]:
    """Outputs for which a single number would pass, and that in words."""
    outputs = range(len(setting.output_shapes))
    found = [n for n in outputs if where_possible(setting.reference, partial(_constant, setting, n))]
    said = "output {} is {:.6g} everywhere, within tolerance: a kernel that computes nothing passes"
    return {n: said.format(n, setting.bases[0].native[n].flatten()[0].item()) for n in found}


def hollow_notes(settings: Iterable[Setting]) -> list[str]:
    """The same of all timed workloads whose outputs are nearly the same everywhere."""
    looked = (each for each in settings if not (each.lean or each.workload.held_out))
    return [
        f"workload {setting.workload.name!r}: {said}"
        for setting in looked
        if any(map(_is_nearly_constant, setting.bases[0].native))
        for said in hollow_outputs(setting).values()
    ]


def _is_nearly_constant(output: torch.Tensor) -> bool:
    """Whether some of its numbers, at equal distances, lie no further apart than an error may be."""
    flat = real(output).flatten()
    some = flat[:: max(1, flat.numel() // SOME)].double()
    middle, spread = some.mean(), some.std(correction=0)
    return flat.numel() > 1 and bool(spread <= GROSS * torch.hypot(middle, spread))


def _finding(setting: Setting, name: str, sentence: str) -> Finding:
    return Finding(name=name, sentence=sentence, workload=setting.workload.name)


def _passes(setting: Setting, outputs: list[torch.Tensor]) -> bool:
    alike = [t.shape for t in outputs] == setting.output_shapes
    return alike and compare(outputs, setting.bases[0], setting.reference.problem).passed


def _with(setting: Setting, index: int, output: torch.Tensor) -> list[torch.Tensor]:
    outputs = list(setting.bases[0].native)
    outputs[index] = output
    return outputs


def _infinite(setting: Setting) -> Iterator[Finding]:
    for index, output in enumerate(setting.bases[0].native):
        count = int(torch.isinf(output).sum()) if output.is_floating_point() else 0
        if count:
            sentence = f"output {index} holds infinities ({count} of {output.numel()} elements)"
            yield _finding(setting, "infinite_output", sentence)


def _constant(setting: Setting, index: int) -> bool:
    output = setting.bases[0].native[index]
    if output.numel() < 2:
        return False
    middle = output.double().mean() if output.is_floating_point() else output.flatten()[0]
    return _passes(setting, _with(setting, index, torch.full_like(output, middle.item())))


def _same_for_every_seed(setting: Setting, index: int) -> bool:
    others = (base.native[index] for base in setting.bases[1:])
    return all(_passes(setting, _with(setting, index, other)) for other in others)


def _flat_axes(setting: Setting, known: set[int]) -> Iterator[Finding]:
    for index, output in enumerate(setting.bases[0].native):
        if index in known or output.dim() < 2:
            continue
        for axis in (a for a in range(output.dim()) if output.shape[a] > 1):
            one = _mean(output, axis) if output.is_floating_point() else output.narrow(axis, 0, 1)
            if _passes(setting, _with(setting, index, one.expand_as(output))):
                sentence = (
                    f"output {index} does not vary along axis {axis}: one slice of {output.shape[axis]} is enough"
                )
                yield _finding(setting, "flat_axis", sentence)


def _mean(output: torch.Tensor, axis: int) -> torch.Tensor:
    """In the output's type, the sum behind it in a wide one: 40 float16 numbers of 2,000 would be infinite."""
    wide = torch.float64 if output.dtype == torch.float64 else torch.float32
    return output.mean(axis, keepdim=True, dtype=wide).to(output.dtype)


def _unused_inputs(setting: Setting) -> Iterator[Finding]:
    names = _parameters(setting)
    for index, value in enumerate(setting.bases[0].values):
        if not isinstance(value, torch.Tensor) or value.numel() == 0:
            continue
        other = next((b.values[index] for b in setting.bases[1:] if not torch.equal(b.values[index], value)), None)
        if other is None:
            continue  # it is the same under every seed, so that nothing could be seen
        values = list(setting.bases[0].values)
        values[index] = other
        if _passes(setting, setting.reference.outputs(setting.model, values)):
            name = f" ({names[index]})" if index < len(names) else ""
            sentence = f"input {index}{name} moves no output beyond the tolerance: a kernel that ignores it passes"
            yield _finding(setting, "unused_input", sentence)


def _unused_weights(setting: Setting) -> Iterator[Finding]:
    for name, tensor in list(setting.state.items())[:MOST_WEIGHTS]:
        if tensor.is_complex() or not (is_number(tensor) or is_short(tensor)):
            continue
        tensor = distinct(tensor)
        before = tensor.clone()
        wide = before.float() if is_short(tensor) else before
        size = float(wide.double().abs().mean()) or 1.0
        generator = torch.Generator(tensor.device).manual_seed(setting.init_seed)
        # Upwards only: variances have to stay positive.
        noise = torch.rand(tensor.shape, generator=generator, dtype=wide.dtype, device=tensor.device) * size
        tensor.copy_(wide + noise)
        moved = setting.reference.outputs(setting.model, setting.bases[0].values)
        tensor.copy_(before)
        if _passes(setting, moved):
            sentence = f"weight {name!r} moves no output beyond the tolerance: a kernel that ignores it passes"
            yield _finding(setting, "unused_weight", sentence)


def _parameters(setting: Setting) -> list[str]:
    if setting.reference.nesting is not None:  # inputs are more than parameters
        return []
    forward = getattr(setting.model, "forward", setting.model)
    try:
        return list(inspect.signature(forward).parameters)
    except (TypeError, ValueError):
        return []
