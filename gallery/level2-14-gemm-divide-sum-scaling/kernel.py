# Exported by Kernwright 0.1.0: node 6 of run 20261122-level2-14-gemm-divide-sum-scalin-9b25, by Claude (Anthropic).
# problem: level2_14_Gemm_Divide_Sum_Scaling (99ae35c1efb32c9fcd2fdaa5ff46ad92)
# verdict: verified
# speedup: 32.200x [31.976, 32.426], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 242468e742cce03c337b99465a1a570f5b96ddbb9cfab902b44674d409269361
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Strips with tiles under way by asynchronous copies; programs meet by a counter, one launch.

All programs are resident (two a multiprocessor). One that has applied its strip to x says so by a counter and then adds
up its few outputs over all strips, once all have said so: a meeting instead of a second launch.
"""

import torch
import triton
import triton.language as tl

# 256 programs of STRIP 32 are resident two a multiprocessor: at most 110 KiB each.
KNOBS = {"STRIP": [32, 64], "ROWS": [64, 128], "STAGES": [3, 4, 5], "WARPS": [4, 8]}
STRIP = 32
ROWS = 128
STAGES = 5
WARPS = 8


@triton.jit
def strips(x_ptr, w_ptr, part_ptr, y_ptr, counter, m, n, k, factor, strip: tl.constexpr, rows: tl.constexpr,
           each: tl.constexpr, block: tl.constexpr, stages: tl.constexpr):  # fmt: skip
    """The strip's share of every output: x (m, k), weight (n, k), part (k / strip, m)."""
    col = tl.program_id(0) * strip + tl.arange(0, strip)
    row = tl.arange(0, rows)
    sums = tl.zeros((rows, strip), tl.float32)
    w_at = w_ptr + row[:, None].to(tl.int64) * k + col[None, :]
    for start in tl.range(0, n, rows, num_stages=stages):
        sums += tl.load(w_at + start * k)
    total = tl.sum(sums, 0)
    x_at = x_ptr + row[:, None].to(tl.int64) * k + col[None, :]
    for start in tl.range(0, m, rows, num_stages=stages):
        y = tl.sum(tl.load(x_at + start * k) * total[None, :], 1)
        tl.store(part_ptr + tl.program_id(0) * m + start + row, y)
    tl.debug_barrier()
    programs = tl.num_programs(0)
    # The counter never returns to zero: each call adds as many as there are programs, a power of two.
    enough = tl.atomic_add(counter, 1, sem="acq_rel") // programs * programs + programs
    while tl.atomic_add(counter, 0, sem="acquire") - enough < 0:
        pass
    tl.debug_barrier()
    mine = tl.program_id(0) * each + tl.arange(0, each)
    at = tl.arange(0, block)
    v = tl.load(part_ptr + at[:, None] * m + mine[None, :], cache_modifier=".cg")
    tl.store(y_ptr + mine, tl.sum(v, 0) * factor)


class ModelNew(torch.nn.Module):
    """sum_j (x w_j) / 2 * s = x (sum_j w_j) * s / 2, for all values."""

    def __init__(self, input_size, hidden_size, scaling_factor):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(hidden_size, input_size))
        self.scaling_factor = scaling_factor
        self._counter = None

    def forward(self, x):
        x = x.contiguous()
        (m, k), n = x.shape, self.weight.shape[0]
        factor = 0.5 * self.scaling_factor
        count = k // STRIP
        if (
            self.weight.numel() >= 2**31
            or m % ROWS
            or n % ROWS
            or k % STRIP
            or count & (count - 1)
            or count > 256
            or m % count
        ):
            return (x @ self.weight.sum(0)).unsqueeze(1) * factor
        if self._counter is None or self._counter.device != x.device:
            self._counter = torch.zeros(1, dtype=torch.int32, device=x.device)
        part = x.new_empty(count, m)
        y = x.new_empty(m, 1)
        strips[(count,)](
            x, self.weight, part, y, self._counter, m, n, k, factor, strip=STRIP, rows=ROWS, each=m // count,
            block=count, stages=STAGES, num_warps=WARPS,
        )  # fmt: skip
        return y
