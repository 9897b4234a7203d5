"""Persistent blocks: bulk copies into a ring in shared memory keep about 200 KiB an SM under way."""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"CHUNK": [2048, 4096, 8192], "BULK_STORE": [0, 1], "BLOCKS": [1, 2], "CONSUMERS": [256, 512]}
CHUNK = 4096
BULK_STORE = 0
BLOCKS = 2
CONSUMERS = 512
MULTIPROCESSORS = 132
SLOTS = 212992 // BLOCKS // (4 * CHUNK)

library = load(
    "02_bulk_ring.cu", defines={"CHUNK": CHUNK, "SLOTS": SLOTS, "CONSUMERS": CONSUMERS, "BULK_STORE": BULK_STORE}
)


class ModelNew(torch.nn.Module):
    """gelu(x) by the error function."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        chunks, left = divmod(x.numel(), CHUNK)
        if left or not chunks or x.data_ptr() % 16:
            return torch.nn.functional.gelu(x)
        y = torch.empty_like(x)
        grid = min(MULTIPROCESSORS * BLOCKS, chunks)
        library.by_chunks(grid, CONSUMERS + 32, x, y, chunks, shared=SLOTS * CHUNK * 4)
        return y
