"""CUDA: the weight by whole rows while rows of x come into shared memory; two meetings, one launch.

Each of 128 resident blocks adds up 64 whole rows of the weight (32 KiB in one piece), and all blocks add the parts up
column by column; then each has eight rows of x beside it, six in shared memory and two in the L2 cache.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"THREADS": [512, 1024], "KEPT": [4, 6]}
THREADS = 512
KEPT = 6  # rows of x in shared memory, 32 KiB each
BLOCKS = 128
K = 8192

library = load(
    "06_rows_and_meetings.cu", defines={"THREADS": THREADS, "KEPT": KEPT, "BLOCKS": BLOCKS, "K": K, "PTX": "asm"}
)


class ModelNew(torch.nn.Module):
    """sum_j (x w_j) / 2 * s = x (sum_j w_j) * s / 2, for all values."""

    def __init__(self, input_size, hidden_size, scaling_factor):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(hidden_size, input_size))
        self.scaling_factor = scaling_factor
        self._counters = None

    def forward(self, x):
        x = x.contiguous()
        (m, k), n = x.shape, self.weight.shape[0]
        factor = 0.5 * self.scaling_factor
        if k != K or m % BLOCKS or n % BLOCKS:
            return (x @ self.weight.sum(0)).unsqueeze(1) * factor
        if self._counters is None or self._counters.device != x.device:
            self._counters = torch.zeros(64, dtype=torch.int32, device=x.device)
        parts = x.new_empty(BLOCKS * k + k)
        y = x.new_empty(m, 1)
        library.run(
            BLOCKS, THREADS, x, self.weight, parts, parts[BLOCKS * k :], self._counters, y, m, n, float(factor),
            shared=KEPT * k * 4,
        )  # fmt: skip
        return y
