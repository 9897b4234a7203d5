"""What a module holds: parameters, buffers and tensors beside them, and which of them no seed decides."""

import torch

from kernwright.evaluation.numbers import is_number, is_short
from kernwright.evaluation.runner.plain import lies_in_memory, plain_tensors
from kernwright.evaluation.runner.structure import distinct, overlaps

from .beside import drawn_beside

SHARE, OFFSET = 0.2, 0.2
"""How far equal weights are moved apart: of their size, or of one where they are zero."""
SMALL = 0.1
"""A scale that starts below this is there to grow."""


def state_of(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers by dotted name, buffers that are not saved included, and what its seed draws beside."""
    if not isinstance(model, torch.nn.Module):
        return {}
    names = drawn_beside(model)
    plain = plain_tensors(model) if names else {}
    beside = [(name, plain[name]) for name in names if name in plain]
    held = (*model.named_parameters(), *model.named_buffers(), *beside)
    return {name: t.data for name, t in held if lies_in_memory(t)}


def is_constant(tensor: torch.Tensor) -> bool:
    """Whether a weight is a fresh one that no seed decides: floating, and all elements equal."""
    floating = (is_number(tensor) or is_short(tensor)) and not tensor.is_complex()
    return floating and tensor.numel() > 1 and bool((tensor == tensor.flatten()[0]).all())


def vary(tensor: torch.Tensor, generator: torch.Generator) -> None:
    """Make equal weights differ; those that are not zero keep their sign and about their size."""
    if is_constant(tensor):
        size, tensor = float(tensor.flatten()[0]), distinct(tensor)
        if overlaps(tensor.shape, tensor.stride()):
            return
        wide = torch.float32 if tensor.itemsize == 1 else tensor.dtype
        noise = torch.rand(tensor.shape, generator=generator, dtype=wide, device=tensor.device) * 2 - 1
        tensor.copy_(tensor.to(wide) + noise * (SHARE * size if size else OFFSET))


def train(model: torch.nn.Module, generator: torch.Generator) -> None:
    """Leave parameters as training may: copies are none, an identity is near to one, and scales have grown that started
    next to 0. What is in order, as knots are, stays so."""
    for weight in model.parameters():
        tensor = distinct(weight.data)
        if weight.requires_grad and is_number(tensor) and not tensor.is_complex() and tensor.numel() > 1:
            noise = torch.rand(tensor.shape, generator=generator, dtype=tensor.dtype, device=tensor.device) * 2 - 1
            if is_constant(tensor):
                grown = 0 < float(tensor.flatten()[0].abs()) < SMALL
                tensor.copy_(tensor.sign() * (1 + noise / 2) if grown else tensor)
            elif not _in_order(tensor):
                tensor.mul_(1 + SHARE * noise)
                if _is_diagonal(tensor):
                    tensor.add_(torch.where(tensor == 0, SHARE * noise / tensor.shape[0] ** 0.5, 0.0))


def _in_order(tensor: torch.Tensor) -> bool:
    steps = tensor.diff(dim=-1)
    return tensor.shape[-1] > 1 and bool((steps >= 0).all() or (steps <= 0).all())


def _is_diagonal(tensor: torch.Tensor) -> bool:
    return tensor.dim() == 2 and torch.equal(tensor, tensor.diagonal().diag_embed())
