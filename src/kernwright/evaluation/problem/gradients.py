"""Problems that ask for gradients: what outputs are differentiated along, and by what."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kernwright.core.errors import UserError
from kernwright.evaluation.runner.gradients import differentiated, followed
from kernwright.evaluation.runner.keys import names_by_key

from .kinds import require_outputs

_OTHER = 0x5DEECE66D


@dataclass(frozen=True, slots=True)
class Slope:
    """One output that has a gradient."""

    number: int
    shape: torch.Size
    dtype: torch.dtype


def slopes_of(
    model: Any, values: Sequence[Any], problem: str, known: Sequence[Slope] | None = None
) -> tuple[Slope, ...]:
    """The outputs that have a gradient, found by a call; `known` under another workload.

    Raises:
        UserError: there is none, others have one than are known, or an output is of a kind that is not judged.
    """
    with torch.enable_grad():
        leaves = require_outputs(model(*followed(values)), problem)
    found = tuple(
        Slope(number, leaf.shape, leaf.dtype)
        for number, leaf in enumerate(leaves)
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    )
    if not found:
        raise UserError(
            f"problem {problem!r} asks for gradients (BACKWARD), and none of its outputs has one; compute them from "
            "floating inputs or parameters by operators that can be differentiated, or leave BACKWARD out."
        )
    if known is not None and [s.number for s in known] != [s.number for s in found]:
        raise UserError(f"problem {problem!r}: other outputs have gradients under one workload than under another.")
    return found


def directions(slopes: Sequence[Slope], seed: int, device: str) -> list[torch.Tensor]:
    """Random ones, which no gradient can be guessed without."""
    generator = torch.Generator(device).manual_seed(seed ^ _OTHER)  # under the seed itself inputs are drawn
    return [torch.randn(s.shape, generator=generator, dtype=s.dtype, device=device) for s in slopes]


def weights_of(model: Any) -> dict[str, torch.Tensor]:
    """Parameters that have gradients, by dotted name."""
    if not isinstance(model, torch.nn.Module):
        return {}
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def back_and_forth(
    model: Any, slopes: Sequence[Slope], call: Callable[..., Any] | None = None
) -> Callable[..., list[Any]]:
    """A call of a module, or `call` in its place, that gives its gradients too."""
    return differentiated(call or model, list(weights_of(model).values()), [s.number for s in slopes])


def result_names(model: Any, values: Sequence[Any], slopes: Sequence[Slope], count: int, keys: Any) -> list[str]:
    """What each of `count` results is called, by these keys; `values` end with the directions."""
    given = values[: len(values) - len(slopes)] if slopes else values
    floating = [i for i, v in enumerate(given) if isinstance(v, torch.Tensor) and v.is_floating_point()]
    gradients = [*(f"gradient of input {i}" for i in floating), *(f"gradient of {n!r}" for n in weights_of(model))]
    return names_by_key(keys, count) if not slopes else [*names_by_key(keys, count - len(gradients)), *gradients]
