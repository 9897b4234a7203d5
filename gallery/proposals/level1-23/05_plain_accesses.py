"""Clusters of 8 hold a row in registers and shared memory, two an SM, with plain loads and stores.

As 02, but what is written stays in L2 like any other line: streaming stores leave it at once and in small pieces,
between which the memory turns from writing to reading. Knob HINTS: 1 streams the loads, 2 the stores.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"HINTS": [0, 1, 2, 3], "HELD": [20, 22]}
HINTS = 0
HELD = 20
VECTORS = 48
THREADS = 256
CLUSTER = 8

library = load(
    "05_plain_accesses.cu",
    defines={"HELD": HELD, "SHARED": VECTORS - HELD, "HINTS": HINTS, "THREADS": THREADS, "CLUSTER": CLUSTER},
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
