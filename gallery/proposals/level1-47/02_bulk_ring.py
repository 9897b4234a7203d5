"""Equal contiguous shares: four rows (65520 aligned bytes) a bulk copy, three under way an SM."""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"THREADS": [256, 512, 1024], "SLOTS": [2, 3]}
THREADS = 512
SLOTS = 3
COLUMNS = 4095
MULTIPROCESSORS = 132

library = load("02_bulk_ring.cu", defines={"THREADS": THREADS, "SLOTS": SLOTS, "COLUMNS": COLUMNS})


class ModelNew(torch.nn.Module):
    """x.sum(dim, keepdim=True) of three axes, quick where the middle one is added up."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fits = x.dim() == 3 and self.dim in (1, -2) and x.is_contiguous() and x.data_ptr() % 16 == 0
        if not fits or x.shape[1] % 4 or x.shape[2] != COLUMNS:
            return torch.sum(x, dim=self.dim, keepdim=True)
        batch, rows, columns = x.shape
        out = torch.zeros((batch, 1, columns), dtype=x.dtype, device=x.device)
        library.add_up(
            MULTIPROCESSORS, THREADS, x, out, batch, rows // 4, shared=SLOTS * COLUMNS * 16 + 4 * COLUMNS + 4
        )
        return out
