"""CUDA: the weight by bulk copies of 2 KiB, each warp with a ring of its own of 24 KiB: 190 KB a multiprocessor.

A warp keeps the sums of 512 columns in registers over its share of rows and waits for no other; a small kernel adds
the shares, a third multiplies rows of x, a warp each.
"""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"THREADS": [128, 256], "PIECE": [256, 512], "RING": [8, 12]}
THREADS = 256
PIECE = 512
RING = 12

library = load("12_bulk_ring.cu", defines={"THREADS": THREADS, "PIECE": PIECE, "RING": RING})


class ModelNew(torch.nn.Module):
    """sum_j (x w_j) / 2 * s = x (sum_j w_j) * s / 2, for all values."""

    def __init__(self, input_size, hidden_size, scaling_factor):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(hidden_size, input_size))
        self.scaling_factor = scaling_factor

    def forward(self, x):
        x = x.contiguous()
        (m, k), n = x.shape, self.weight.shape[0]
        factor = 0.5 * self.scaling_factor
        if k % PIECE or self.weight.numel() >= 2**31:
            return (x @ self.weight.sum(0)).unsqueeze(1) * factor
        warps = THREADS // 32
        blocks = torch.cuda.get_device_properties(x.device).multi_processor_count
        shares = max(1, blocks * warps // (k // PIECE))
        parts = x.new_empty(shares * k + k)
        total = parts[shares * k :]
        y = x.new_empty(m, 1)
        blocks = -(-shares * (k // PIECE) // warps)
        library.columns(blocks, THREADS, self.weight, parts, n, k, shares, shared=warps * RING * PIECE * 4)
        library.total_of(-(-k // THREADS), THREADS, parts, total, k, shares)
        library.multiply(-(-m // warps), THREADS, x, total, y, m, k // 4, float(factor))
        return y
