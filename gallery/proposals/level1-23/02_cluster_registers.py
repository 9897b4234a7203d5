"""Clusters of 8 hold a row in registers and shared memory, two clusters an SM: x read once.

While one cluster of an SM waits for its row, the other writes. Each exponential is taken once and kept.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"HELD": [20, 22, 24]}
HELD = 20
VECTORS = 48
THREADS = 256
CLUSTER = 8

library = load(
    "02_cluster_registers.cu",
    defines={"HELD": HELD, "SHARED": VECTORS - HELD, "THREADS": THREADS, "CLUSTER": CLUSTER},
)


class ModelNew(torch.nn.Module):
    """softmax(x, dim=1) of a matrix."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        rows, columns = x.shape
        if columns != CLUSTER * THREADS * VECTORS * 4 or x.data_ptr() % 16:
            return torch.softmax(x, dim=1)
        y = torch.empty_like(x)
        library.softmax(rows * CLUSTER, THREADS, x, y, shared=16 * THREADS * (VECTORS - HELD))
        return y
