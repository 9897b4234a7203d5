"""Split-K in two launches: partial sums to a workspace, then their sum in a fixed order; the same bits always."""

import torch
import triton
import triton.language as tl

KNOBS = {"SPLITS": [2, 4, 8, 16], "BLOCK_N": [16, 32, 64], "BLOCK_K": [32, 64, 128], "WARPS": [2, 4]}
SPLITS = 8
BLOCK_N = 32
BLOCK_K = 64
WARPS = 4


@triton.jit
def partial_sums(
    x_ptr, w_ptr, part_ptr, m, n, k, per_split, block_m: tl.constexpr, block_n: tl.constexpr, block_k: tl.constexpr
):
    row = tl.arange(0, block_m)
    column = tl.program_id(0) * block_n + tl.arange(0, block_n)
    split = tl.program_id(1)
    sums = tl.zeros((block_m, block_n), tl.float32)
    first = split * per_split
    last = tl.minimum(first + per_split, k)
    for start in range(first, last, block_k):
        inner = start + tl.arange(0, block_k)
        inside = inner < last
        a = tl.load(x_ptr + row[:, None] * k + inner[None, :], mask=(row[:, None] < m) & inside[None, :], other=0.0)
        there = (column[None, :] < n) & inside[:, None]
        b = tl.load(w_ptr + column[None, :] * k + inner[:, None], mask=there, other=0.0)
        sums = tl.dot(a, b, sums, input_precision="ieee")  # the default, TF32, is no float32
    at = part_ptr + (split * m + row[:, None]) * n + column[None, :]
    tl.store(at, sums, mask=(row[:, None] < m) & (column[None, :] < n))


@triton.jit
def joined(part_ptr, y_ptr, count, splits: tl.constexpr, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    total = tl.zeros((block,), tl.float32)
    for split in tl.static_range(splits):
        total += tl.load(part_ptr + split * count + at, mask=at < count, other=0.0)
    tl.store(y_ptr + at, total, mask=at < count)


class ModelNew(torch.nn.Module):
    """x @ weight.T for at most 64 rows; more go through PyTorch."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(hidden, features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        (m, k), n = x.shape, self.weight.shape[0]
        if m > 64:
            return x @ self.weight.t()
        x = x.contiguous()
        y, part = x.new_empty(m, n), x.new_empty(SPLITS, m, n)
        per_split = triton.cdiv(triton.cdiv(k, SPLITS), BLOCK_K) * BLOCK_K
        partial_sums[(triton.cdiv(n, BLOCK_N), SPLITS)](
            x, self.weight, part, m, n, k, per_split, block_m=max(16, triton.next_power_of_2(m)), block_n=BLOCK_N,
            block_k=BLOCK_K, num_warps=WARPS,
        )  # fmt: skip
        joined[(triton.cdiv(m * n, 256),)](part, y, m * n, splits=SPLITS, block=256, num_warps=2)
        return y
