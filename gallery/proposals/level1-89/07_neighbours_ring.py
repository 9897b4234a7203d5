"""all SMs sweep memory together, tile by tile, by bulk copies into rings; tiles tell their sums.

Tile t goes to block t % 132, so that reads and writes lie together as in a copy. A tile adds the sums of those
before it in its row, each of them a 4-byte word that is its own flag; it does so one tile later, when they have
long come.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"TILE": [4096, 2048], "SLOTS": [8, 4, 12], "LEAVES": [0, 1]}
TILE = 4096
SLOTS = 8
LEAVES = 0
THREADS = 512
MULTIPROCESSORS = 132
PATIENCE = 100000
REVERSE = False

library = load(
    "07_neighbours_ring.cu",
    defines={"TILE": TILE, "SLOTS": SLOTS, "LEAVES": LEAVES, "THREADS": THREADS, "REVERSE": int(REVERSE)},
)


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
            return torch.cumsum(x, dim=self.dim)
        x = x.contiguous()
        y = torch.empty_like(x)
        across = x.shape[1] // TILE
        if across > 32:
            return torch.cumsum(x, dim=self.dim)
        tiles = x.shape[0] * across
        sums = torch.full((tiles,), -1, dtype=torch.int32, device=x.device)
        grid = min(MULTIPROCESSORS, tiles)
        library.scan_rows(grid, THREADS + 32, x, y, sums, tiles, across, PATIENCE, shared=SLOTS * TILE * 4)
        return y
