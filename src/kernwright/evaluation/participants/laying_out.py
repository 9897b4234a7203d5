"""Where the tensors of a workload lie in the memory that a runner shares."""

from typing import TYPE_CHECKING

import torch

from kernwright.evaluation.calls import must_cross
from kernwright.evaluation.footprint import nbytes_of
from kernwright.evaluation.problem.gradients import result_names
from kernwright.evaluation.runner.structure import PAGE, lay_out, lies_at, overlaps, sharing
from kernwright.evaluation.weights.state import state_of

if TYPE_CHECKING:
    from kernwright.evaluation.problem.setting import Setting

SETS = 2
"""Input sets per workload, so that calls can move to other pointers."""


def lay_out_memory(setting: "Setting") -> None:
    """Say where weights, inputs and outputs of a workload lie in the memory that a runner shares."""
    setting.state = state_of(setting.model)
    specs, state_bytes = lay_out(setting.state.values(), 0)
    setting.state_specs = dict(zip(setting.state, specs, strict=True))
    values = setting.bases[0].values
    tensors = [v for v in values if isinstance(v, torch.Tensor)]
    for value in values:
        if not isinstance(value, torch.Tensor):
            must_cross([value], "get_inputs()")
    setting.input_specs, end = [], lay_out(tensors, 0)[1]
    setting.set_bytes = 0 if setting.lean else end
    apart = setting.reference.place.apart_bytes
    setting.overlapping, end = not setting.workload.held_out and 0 < apart < SETS * end, 0
    for number in range(SETS):
        specs, end = lay_out(tensors, number * PAGE if setting.overlapping else end)
        rest = iter(specs)
        setting.input_specs.append([next(rest) if isinstance(v, torch.Tensor) else None for v in values])
    slopes = setting.reference.slopes(setting.workload)
    native = setting.bases[0].native
    setting.keys = setting.reference.keys
    setting.names = result_names(setting.model, values, slopes, len(native), setting.keys)
    setting.output_specs, given_bytes = lay_out([t.contiguous() for t in native], 0)
    grown = [name.startswith("gradient") for name in setting.names]
    setting.output_strides = [None if g else list(t.stride()) for g, t in zip(grown, native, strict=True)]
    for spec, tensor in zip(setting.output_specs, native, strict=True):
        spec["overlapping"] = overlaps(tensor.shape, tensor.stride())
    for spec, shares in zip(setting.output_specs, _shares(setting.names, native), strict=True):
        spec["shares"] = shares
    setting.sizes = (max(state_bytes, PAGE), max(end, PAGE), max(given_bytes, PAGE))
    setting.output_bytes = nbytes_of(native)
    setting.traffic_bytes = nbytes_of(tensors) + nbytes_of(setting.state.values()) + setting.output_bytes


def _shares(names: list[str], native: list[torch.Tensor]) -> list[list[int] | None]:
    """For each output those in whose memory it lies; None of gradients, which autograd lets lie where they like."""
    lies = [*map(lies_at, native)]

    def meets(one: int, other: int) -> bool:
        return one != other and sharing([lies[one], lies[other]], [[], []]) is not None

    every = range(len(native))
    return [
        None if names[number].startswith("gradient") else [other for other in every if meets(number, other)]
        for number in every
    ]
