"""Clusters of 8 blocks hold a row in shared memory; bulk copies bring the next row: x read once.

A row of 393216 floats is 8 x 192 KiB. As a chunk of a row is written, its slot takes a chunk of the
cluster's next row, and statistics of that one run behind by DELAY chunks. Maxima and sums meet by remote stores.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"CHUNK": [4096, 8192], "CLUSTERS": [16, 64], "DELAY": [4, 64], "CONSUMERS": [256, 512]}
CHUNK = 4096
CLUSTERS = 16
DELAY = 4
CONSUMERS = 512
CLUSTER = 8
ROOM = 229376

library = load(
    "01_cluster_ring.cu", defines={"CHUNK": CHUNK, "DELAY": DELAY, "CONSUMERS": CONSUMERS, "CLUSTER": CLUSTER}
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
