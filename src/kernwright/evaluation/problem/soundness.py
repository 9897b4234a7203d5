"""Whether a problem can be judged at all: finite, repeatable, and small enough."""

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from kernwright.core.errors import UserError
from kernwright.evaluation.errors.comparison import compare
from kernwright.evaluation.memory import available_bytes
from kernwright.evaluation.participants.runner_message import MESSAGE_BYTES
from kernwright.evaluation.runner.structure import MOST_RESULTS, encode

from .cases import Ready

if TYPE_CHECKING:
    from .setting import Setting

PARTICIPANTS = 3
"""Candidate and two baselines, each with its own inputs and outputs."""

ARGUMENTS_BYTES = MESSAGE_BYTES - (4 << 10)
"""Of the arguments of a call that are no tensors, as JSON; the rest of a message is for other draws of them."""


def require_sound(setting: "Setting") -> None:
    """Look at one workload before anything is compared with it.

    Raises:
        UserError: its outputs hold NaN or are not repeatable, its inputs do not follow the seed, they hold too
            many plain values, it gives too many tensors, or it needs more memory than there is.
    """
    where = f"problem {setting.reference.problem.name!r}, workload {setting.workload.name!r}"
    _require_room(setting, where)
    _require_short_arguments(setting, where)
    _require_few_results(setting, where)
    _require_no_nan(setting, where)
    _require_seeded(setting, where)
    _require_repeatable(setting, where)


def require_shapes(shapes: Sequence[torch.Size], outputs: Sequence[torch.Tensor], workload: str) -> None:
    """What is shared with a runner has one size.

    Raises:
        UserError: results have other shapes than these.
    """
    if [t.shape for t in outputs] != list(shapes):
        raise UserError(
            f"the module's outputs have other shapes for other values of workload {workload!r}: "
            f"{_shapes(t.shape for t in outputs)} after {_shapes(shapes)}; a workload must have fixed shapes and "
            "dtypes."
        )


def _shapes(shapes: Iterable[torch.Size]) -> str:
    return ", ".join(str(list(shape)) for shape in shapes)


def _require_room(setting: "Setting", where: str) -> None:
    needed, free = PARTICIPANTS * sum(setting.sizes), setting.reference.place.memory_bytes or available_bytes()
    if free is not None and needed > free:
        raise UserError(
            f"{where} needs more memory than there is: {needed / 2**30:.1f} GiB for the inputs and outputs of "
            f"{PARTICIPANTS} processes, and {free / 2**30:.1f} GiB are available. Make it smaller."
        )


def _require_short_arguments(setting: "Setting", where: str) -> None:
    for base in setting.bases:
        plain = [encode(value) for value in base.values if not isinstance(value, torch.Tensor)]
        if (size := len(json.dumps(plain, separators=(",", ":")))) > ARGUMENTS_BYTES:
            raise UserError(
                f"{where}: the arguments from get_inputs() that are no tensors take {size} bytes as text, and at most "
                f"{ARGUMENTS_BYTES} go along with a call; return long lists of numbers as tensors, or make them in "
                "the module's constructor."
            )


def _require_few_results(setting: "Setting", where: str) -> None:
    if (count := len(setting.output_shapes)) > MOST_RESULTS:
        raise UserError(
            f"{where}: a call gives {count} tensors, gradients included, and at most {MOST_RESULTS} can be compared; "
            "concatenate some, or judge a part of the module."
        )


def _require_no_nan(setting: "Setting", where: str) -> None:
    for base in setting.bases:
        for index, value in enumerate(base.values):
            if isinstance(value, torch.Tensor) and _has_nan(value):
                raise UserError(f"{where}: input {index} holds NaN, so nothing can be compared; correct get_inputs().")
        native = base.native
        require_shapes(setting.output_shapes, native, setting.workload.name)
        for index, output in enumerate(native):
            if _has_nan(output):
                raise UserError(
                    f"{where}: output {index} holds NaN, so nothing can be compared with it; correct the module, or "
                    "get_inputs() so that it stays in range."
                )


def _require_seeded(setting: "Setting", where: str) -> None:
    first = setting.bases[0]
    again = setting.reference.inputs(setting.workload, first.seed)
    for index, (old, new) in enumerate(zip(first.values, again, strict=True)):
        if not _same(old, new):
            raise UserError(
                f"{where}: get_inputs() is not deterministic: input {index} differs under the same seed; draw it from "
                "the global generator of torch, random or numpy.random."
            )


def _require_repeatable(setting: "Setting", where: str) -> None:
    # Against what it gave before, not the oracle: random numbers are other ones in float64.
    base = setting.bases[0]
    native = base.native
    first = Ready(values=base.values, native=native, oracle=native, label=base.label, seed=base.seed)
    for seed in (0, 1):  # the second seed shows what the module draws at random itself
        again = setting.reference.outputs(setting.model, first.values, seed)
        same_shape = [t.shape for t in again] == [t.shape for t in first.native]
        verdict = compare(again, first, setting.reference.problem) if same_shape else None
        if verdict is None or not verdict.passed:
            found = verdict.detail if verdict is not None else "its outputs change shape"
            raise UserError(
                f"{where} is not deterministic: the module gives other outputs for the same inputs ({found}). Let it "
                "draw no random numbers and keep no state between calls."
            )


def _has_nan(tensor: torch.Tensor) -> bool:
    return (tensor.is_floating_point() or tensor.is_complex()) and bool(torch.isnan(tensor).any())


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, torch.Tensor):
        return isinstance(new, torch.Tensor) and bool(torch.equal(old, new))
    return bool(old == new)
