"""x read once into 128 rings; each part of the statistics is its own flag, gathered by a waiting warp.

As 02, which waited long at its counter: no fence and no counter between a block's sum and its readers, a warp that
asks for chunks and one that gathers the parts, neither of which computes.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"DELAY": [4, 2], "STREAMED": [0, 1], "LEAVES_L2": [1, 0]}
CHUNK = 2048
DELAY = 4
STREAMED = 0
LEAVES_L2 = 1
CONSUMERS = 512
PART = 32768
ROOM = 229376
PATIENCE = 200000
SLOTS = ROOM // (4 * CHUNK)
SHARED = SLOTS * CHUNK * 4

library = load(
    "05_own_flags.cu",
    defines={
        "CHUNK": CHUNK,
        "CHUNKS": PART // CHUNK,
        "SLOTS": SLOTS,
        "CONSUMERS": CONSUMERS,
        "DELAY": DELAY,
        "STREAMED": STREAMED,
        "LEAVES_L2": LEAVES_L2,
    },
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
        parts = torch.full((rows, blocks), -1, dtype=torch.int64, device=x.device)
        library.layer_norm(
            blocks, CONSUMERS + 64, x, weight, bias, y, parts, rows, self.ln.eps, PATIENCE, shared=SHARED
        )
        return y
