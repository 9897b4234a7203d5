"""Clusters of 8 hold a row in shared memory; the copy engine brings chunks and takes them away whole.

As 01, but results replace a chunk in shared memory and leave by one bulk copy of 16 or 32 KiB, without hints to L2.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"CHUNK": [4096, 8192], "CLUSTERS": [16, 64], "DELAY": [4, 64], "LEAVES": [0, 1]}
CHUNK = 4096
CLUSTERS = 16
DELAY = 4
CONSUMERS = 512
LEAVES = 0
CLUSTER = 8
ROOM = 229376

library = load(
    "07_copied_out.cu",
    defines={"CHUNK": CHUNK, "DELAY": DELAY, "CONSUMERS": CONSUMERS, "CLUSTER": CLUSTER, "LEAVES": LEAVES},
)


class ModelNew(torch.nn.Module):
    """softmax(x, dim=1) of a matrix."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        rows, columns = x.shape
        slots = min(ROOM // (4 * CHUNK), 64)
        if columns % (CLUSTER * CHUNK) or columns // (CLUSTER * CHUNK) > slots or x.data_ptr() % 16:
            return torch.softmax(x, dim=1)
        y = torch.empty_like(x)
        library.softmax(
            CLUSTER * min(CLUSTERS, rows), CONSUMERS + 32, x, y, rows, columns, slots, shared=slots * CHUNK * 4
        )
        return y
