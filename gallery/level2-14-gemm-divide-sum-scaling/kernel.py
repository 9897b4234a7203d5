# Exported by Kernwright 0.1.0: node 1 of run 20261122-level2-14-gemm-divide-sum-scalin-9b25, by Claude (Anthropic).
# problem: level2_14_Gemm_Divide_Sum_Scaling (99ae35c1efb32c9fcd2fdaa5ff46ad92)
# verdict: verified
# speedup: 32.582x [32.427, 32.737], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 2a7a20b4eb3d3fc2b9caf3cf14936ec0fd6d1e057d486714db2f1346f02641f9
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Each program sums a strip of weight columns and applies it to its strip of x; a small kernel adds up."""

import torch
import triton
import triton.language as tl

KNOBS = {"STRIP": [16, 32, 64], "ROWS": [128, 256, 512], "WARPS": [8, 16]}
STRIP = 32
ROWS = 256
WARPS = 16


@triton.jit
def strips(x_ptr, w_ptr, part_ptr, m, n, k, strip: tl.constexpr, rows: tl.constexpr):
    """The strip's share of every output: x (m, k), weight (n, k), part (k / strip, m)."""
    col = tl.program_id(0) * strip + tl.arange(0, strip)
    row = tl.arange(0, rows)
    sums = tl.zeros((rows, strip), tl.float32)
    w_at = w_ptr + row[:, None].to(tl.int64) * k + col[None, :]
    for _ in range(0, n, rows):
        sums += tl.load(w_at)
        w_at += rows * k
    total = tl.sum(sums, 0)
    x_at = x_ptr + row[:, None].to(tl.int64) * k + col[None, :]
    for start in range(0, m, rows):
        y = tl.sum(tl.load(x_at) * total[None, :], 1)
        tl.store(part_ptr + tl.program_id(0) * m + start + row, y)
        x_at += rows * k


@triton.jit
def add(part_ptr, y_ptr, m, count, factor, rows: tl.constexpr, block: tl.constexpr):
    row = tl.program_id(0) * rows + tl.arange(0, rows)
    at = tl.arange(0, block)
    inside = (at < count)[:, None] & (row < m)[None, :]
    v = tl.load(part_ptr + at[:, None] * m + row[None, :], mask=inside, other=0.0)
    tl.store(y_ptr + row, tl.sum(v, 0) * factor, mask=row < m)


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
        if m % ROWS or n % ROWS or k % STRIP:
            return (x @ self.weight.sum(0)).unsqueeze(1) * factor
        count = k // STRIP
        part = x.new_empty(count, m)
        y = x.new_empty(m, 1)
        strips[(count,)](x, self.weight, part, m, n, k, strip=STRIP, rows=ROWS, num_warps=WARPS)
        add[(triton.cdiv(m, 8),)](part, y, m, count, factor, rows=8, block=triton.next_power_of_2(count), num_warps=4)
        return y
