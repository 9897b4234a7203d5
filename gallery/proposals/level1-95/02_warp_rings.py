"""Each warp has its own ring of rows by bulk copies, 190 KiB an SM under way; one launch."""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"WARPS": [4, 6, 12]}
WARPS = 6
ROOM = 12
DEPTH = ROOM // WARPS
CLASSES = 4096
MULTIPROCESSORS = 132

library = load("02_warp_rings.cu", defines={"WARPS": WARPS, "DEPTH": DEPTH, "CLASSES": CLASSES})

_TICKETS: dict[torch.device, torch.Tensor] = {}


def ticket_of(x: torch.Tensor) -> torch.Tensor:
    """A counter that every launch leaves at 0; of its own for a stand-in of a tensor, as a build uses."""
    if type(x) is not torch.Tensor:
        return torch.zeros(1, dtype=torch.int32, device=x.device)
    if x.device not in _TICKETS:
        _TICKETS[x.device] = torch.zeros(1, dtype=torch.int32, device=x.device)
    return _TICKETS[x.device]


class ModelNew(torch.nn.Module):
    """Mean cross entropy of rows of logits and their classes."""

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        rows, classes = predictions.shape
        fits = classes == CLASSES and predictions.is_contiguous() and targets.is_contiguous()
        if not fits or targets.dtype != torch.int64 or predictions.data_ptr() % 16:
            return torch.nn.functional.cross_entropy(predictions, targets)
        parts = torch.empty((MULTIPROCESSORS, 2), dtype=torch.float32, device=predictions.device)
        out = torch.empty((), dtype=torch.float32, device=predictions.device)
        library.cross_entropy(
            MULTIPROCESSORS,
            WARPS * 32,
            predictions,
            targets,
            out,
            parts,
            ticket_of(predictions),
            rows,
            shared=WARPS * DEPTH * CLASSES * 4,
        )
        return out
