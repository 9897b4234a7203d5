"""128 blocks hold a row in shared memory, weights in registers; a ring brings the next: x read once.

Each block has the same columns of every row. Blocks meet at a counter once a row, with about 80 KiB an SM of the rows
to come under way. A block that has waited too long reads the row by itself: nothing can hang.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"CHUNK": [2048, 4096], "DELAY": [1, 2, 4]}
CHUNK = 4096
DELAY = 2
CONSUMERS = 512
PART = 32768
ROOM = 212992
PATIENCE = 200000
SLOTS = ROOM // (4 * CHUNK)

library = load(
    "02_grid_ring.cu",
    defines={"CHUNK": CHUNK, "CHUNKS": PART // CHUNK, "SLOTS": SLOTS, "CONSUMERS": CONSUMERS, "DELAY": DELAY},
)


class ModelNew(torch.nn.Module):
    """torch.nn.LayerNorm over long rows."""

    def __init__(self, normalized_shape: tuple) -> None:
        super().__init__()
        self.ln = torch.nn.LayerNorm(normalized_shape=normalized_shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight, bias = self.ln.weight, self.ln.bias
        columns = weight.numel()
        blocks = columns // PART
        aligned = all(t.data_ptr() % 16 == 0 for t in (x, weight, bias))
        if columns % PART or blocks % 32 or blocks > 128 or not x.is_contiguous() or not aligned:
            return self.ln(x)
        rows = x.numel() // columns
        y = torch.empty_like(x)
        done = torch.zeros(rows, dtype=torch.int32, device=x.device)
        parts = torch.empty((rows, blocks, 2), dtype=torch.float32, device=x.device)
        library.layer_norm(
            blocks,
            CONSUMERS,
            x,
            weight,
            bias,
            y,
            parts,
            done,
            rows,
            self.ln.eps,
            PATIENCE,
            shared=SLOTS * CHUNK * 4,
        )
        return y
