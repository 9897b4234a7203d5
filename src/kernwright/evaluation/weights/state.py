"""What a module holds: parameters, buffers and tensors beside them, and which of them no seed decides."""

import torch

from kernwright.evaluation.numbers import is_number, is_short
from kernwright.evaluation.runner.plain import lies_in_memory, plain_tensors
from kernwright.evaluation.runner.structure import distinct, overlaps

from .beside import drawn_beside

SHARE, OFFSET = 0.2, 0.2
"""How far equal weights are moved apart: of their size, or of one where they are zero."""


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
