# Exported by Kernwright 0.1.0: node 11 of run 20261122-level1-26-gelu-13f7, by Claude (Anthropic).
# problem: level1_26_GELU_ (66102891429cd5e1521346d7605d298a)
# verdict: verified
# speedup: 1.002x [0.998, 1.007], 95 % interval, against torch.compile
# threads: 1; cache: cold
# It is not shown to be faster than the baseline.
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 7f405917cd179895cb40cb2a6d41ca6c66685d086ecc00d1600a810fcb8e45e2
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Triton: as a copy: 1024 numbers a program, two vectors a thread, no hints; the compiler's own erf.

01 streamed tiles of many vectors a thread; what came nearest to a copy (04) has a vector a thread and plain stores.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [1024, 512, 2048], "WARPS": [4, 8, 2]}
BLOCK = 1024
WARPS = 4


@triton.jit
def gelus(x, y, block: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    v = tl.load(x + at)
    tl.store(y + at, v * 0.5 * (1.0 + tl.erf(v * 0.7071067811865476)))


class ModelNew(torch.nn.Module):
    """gelu(x) by the error function."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        blocks, left = divmod(x.numel(), BLOCK)
        if left or not 0 < blocks < 2**31 or x.data_ptr() % 16:
            return torch.nn.functional.gelu(x)
        y = torch.empty_like(x)
        gelus[(blocks,)](x, y, block=BLOCK, num_warps=WARPS)
        return y
