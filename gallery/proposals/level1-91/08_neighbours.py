"""flip-cumsum-flip as one scan: a copy's small blocks, a tile each; each tells its sum, its own flag.

A tile waits for the sums of the (at most 31) tiles before it in its row, whose blocks started before; who has waited
too long reads them: nothing can hang.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"TILE": [4096, 2048], "THREADS": [256, 512]}
TILE = 4096
THREADS = 256
PATIENCE = 100000
REVERSE = True

library = load("08_neighbours.cu", defines={"TILE": TILE, "THREADS": THREADS, "REVERSE": int(REVERSE)})


class ModelNew(torch.nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fits = (
            x.dim() == 2
            and x.dtype == torch.float32
            and x.numel()
            and x.shape[1] % TILE == 0
            and x.data_ptr() % 16 == 0
        )
        if not fits or self.dim not in (1, -1):
            return torch.cumsum(x.flip(self.dim), dim=self.dim).flip(self.dim)
        x = x.contiguous()
        y = torch.empty_like(x)
        across = x.shape[1] // TILE
        if across > 32:
            return torch.cumsum(x.flip(self.dim), dim=self.dim).flip(self.dim)
        sums = torch.full((x.shape[0] * across,), -1, dtype=torch.int32, device=x.device)
        library.scan_rows(x.shape[0] * across, THREADS, x, y, sums, across, PATIENCE)
        return y
