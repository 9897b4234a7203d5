"""What a module holds: parameters and buffers, and which of them no seed decides."""

import torch

SHARE, OFFSET = 0.2, 0.2
"""How far equal weights are moved apart: of their size, or of one where they are zero."""


def state_of(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers by dotted name, buffers that are not saved included."""
    if not isinstance(model, torch.nn.Module):
        return {}
    return {name: t.data for name, t in (*model.named_parameters(), *model.named_buffers())}


def is_constant(tensor: torch.Tensor) -> bool:
    """Whether a weight is a fresh one that no seed decides: floating, and all elements equal."""
    return tensor.is_floating_point() and tensor.numel() > 1 and bool((tensor == tensor.flatten()[0]).all())


def vary(tensor: torch.Tensor, generator: torch.Generator) -> None:
    """Make equal weights differ; those that are not zero keep their sign and about their size."""
    if is_constant(tensor):
        noise = torch.rand(tensor.shape, generator=generator, dtype=tensor.dtype, device=tensor.device) * 2 - 1
        size = float(tensor.flatten()[0])
        tensor += noise * (SHARE * size if size else OFFSET)
