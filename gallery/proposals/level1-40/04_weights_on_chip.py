"""Weights and bias stay on chip; x comes twice, from memory and 1.5 rows later from L2: no one waits.

128 blocks keep their part of the weights in registers and of the bias in shared memory. Statistics run LAG chunks
ahead of the division, so that the meeting of all blocks hides behind half a row. A warp of its own gathers the
parts; if they do not come in PATIENCE looks it goes through the row by itself: nothing can hang.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"SLACK": [4, 8, 2], "STREAMED": [0, 1], "SLOTS": [6, 4]}
SLACK = 4
STREAMED = 0
SLOTS = 6
CHUNK = 4096
CONSUMERS = 512
PART = 32768
PATIENCE = 200000
CHUNKS = PART // CHUNK
LAG = CHUNKS + SLACK
SHARED = (PART + SLOTS * CHUNK) * 4

library = load(
    "04_weights_on_chip.cu",
    defines={
        "CHUNK": CHUNK,
        "CHUNKS": CHUNKS,
        "SLOTS": SLOTS,
        "CONSUMERS": CONSUMERS,
        "LAG": LAG,
        "STREAMED": STREAMED,
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
