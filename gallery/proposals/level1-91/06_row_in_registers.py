"""flip-cumsum-flip as one scan: a whole row in registers, the next by bulk copies; one barrier.

A persistent block an SM; 13 chunks of 16 KiB in shared memory hold a row and more than half of the next. Sums of 256
groups of 128 numbers meet once a row.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"THREADS": [512, 1024], "CHUNK": [4096, 8192], "LEAVES": [0, 1]}
THREADS = 512
CHUNK = 4096
LEAVES = 0
COLUMNS = 32768
ROOM = 212992
MULTIPROCESSORS = 132
SLOTS = ROOM // (4 * CHUNK)
REVERSE = True

library = load(
    "06_row_in_registers.cu",
    defines={
        "THREADS": THREADS,
        "CHUNK": CHUNK,
        "LEAVES": LEAVES,
        "COLUMNS": COLUMNS,
        "SLOTS": SLOTS,
        "REVERSE": int(REVERSE),
    },
)


class ModelNew(torch.nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fits = (
            x.dim() == 2 and x.dtype == torch.float32 and x.numel() and x.shape[1] == COLUMNS and x.data_ptr() % 16 == 0
        )
        if not fits or self.dim not in (1, -1):
            return torch.cumsum(x.flip(self.dim), dim=self.dim).flip(self.dim)
        x = x.contiguous()
        y = torch.empty_like(x)
        rows = x.shape[0]
        library.scan_rows(min(MULTIPROCESSORS, rows), THREADS, x, y, rows, shared=SLOTS * CHUNK * 4)
        return y
