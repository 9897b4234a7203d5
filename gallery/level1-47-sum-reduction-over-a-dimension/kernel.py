# Exported by Kernwright 0.1.0: node 6 of run 20261122-level1-47-sum-reduction-over-a-d-6d1a, by Claude (Anthropic).
# problem: level1_47_Sum_reduction_over_a_dimension (d9bec7a084954a9b538d0f7bbd2a4340)
# verdict: verified
# speedup: 1.081x [1.073, 1.089], 95 % interval, against PyTorch eager
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: get_inputs() is slow and its values hang together, so every timed call waited for a new draw
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 85ebcea26ec4fffc347544ce076b1eeab4edbfb6df75aad9a7ac8d3c2d00fec8
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Short stretches of rows in the order of memory: what runs together reads what lies together.

As 01, whose two long stretches a batch spread the resident programs over 33 batches, 67 MB apart.
"""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [1024, 2048, 512], "SPLITS": [32, 16, 64], "DEEP": [8, 4, 16], "HINT": ["", "evict_first"]}
BLOCK = 1024
SPLITS = 32
DEEP = 8
HINT = ""
WARPS = 4


@triton.jit
def add_up(
    x,
    out,
    rows,
    columns: tl.constexpr,
    groups: tl.constexpr,
    block: tl.constexpr,
    deep: tl.constexpr,
    hint: tl.constexpr,
):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < 4 * columns
    batch = tl.program_id(2)
    start = batch.to(tl.int64) * rows * columns + tl.program_id(1) * groups * (4 * columns)
    place = x + start + at
    total = tl.zeros([block], tl.float32)
    for _ in range(0, groups, deep):
        for i in tl.static_range(deep):
            total += tl.load(place + i * 4 * columns, mask=inside, other=0.0, eviction_policy=hint)
        place += deep * 4 * columns
    tl.atomic_add(out + batch * columns + at % columns, total, mask=inside, sem="relaxed")


class ModelNew(torch.nn.Module):
    """x.sum(dim, keepdim=True) of three axes, quick where the middle one is added up."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() != 3 or self.dim not in (1, -2) or x.shape[1] % (4 * SPLITS * DEEP):
            return torch.sum(x, dim=self.dim, keepdim=True)
        x = x.contiguous()
        batch, rows, columns = x.shape
        out = torch.zeros((batch, 1, columns), dtype=x.dtype, device=x.device)
        add_up[(triton.cdiv(4 * columns, BLOCK), SPLITS, batch)](
            x,
            out,
            rows,
            columns=columns,
            groups=rows // 4 // SPLITS,
            block=BLOCK,
            deep=DEEP,
            hint=HINT,
            num_warps=WARPS,
        )
        return out
