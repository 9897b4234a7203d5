"""One tf32x3 kernel on the matrices as they are: grouped tiles, asynchronous copies, no preparation."""

import torch
import triton
import triton.language as tl

BLOCK_M = 128
BLOCK_N = 128
BLOCK_K = 32
STAGES = 3
WARPS = 8
GROUP = 8

KNOBS = {
    "BLOCK_N": [64, 128],
    "STAGES": [2, 3, 4],
    "GROUP": [4, 8, 16],
}


@triton.jit
def _product(
    a, b, c, m, n, k,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, group: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    tiles_m = tl.cdiv(m, bm)
    tiles_n = tl.cdiv(n, bn)
    first = tl.program_id(0) // (group * tiles_n) * group
    height = tl.minimum(tiles_m - first, group)
    inner = tl.program_id(0) % (group * tiles_n)
    rows = (first + inner % height) * bm + tl.arange(0, bm)
    cols = inner // height * bn + tl.arange(0, bn)
    at = tl.arange(0, bk)
    left = a + rows.to(tl.int64)[:, None] * k + at[None, :]
    right = b + at.to(tl.int64)[:, None] * n + cols[None, :]
    acc = tl.zeros((bm, bn), tl.float32)
    for start in tl.range(0, k, bk, num_stages=stages):
        inside = start + at < k
        x = tl.load(left, mask=(rows < m)[:, None] & inside[None, :], other=0.0)
        y = tl.load(right, mask=inside[:, None] & (cols < n)[None, :], other=0.0)
        acc = tl.dot(x, y, acc, input_precision="tf32x3")
        left += bk
        right += bk * n
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    tl.store(c + rows.to(tl.int64)[:, None] * n + cols[None, :], acc, mask=inside)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        if a.dim() != 2 or b.dim() != 2 or a.dtype != torch.float32 or b.dtype != torch.float32:
            return torch.matmul(a, b)
        a, b = a.contiguous(), b.contiguous()
        (m, k), n = a.shape, b.shape[1]
        c = torch.empty((m, n), device=a.device, dtype=torch.float32)
        _product[(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)](
            a, b, c, m, n, k, bm=BLOCK_M, bn=BLOCK_N, bk=BLOCK_K, group=GROUP, stages=STAGES, num_warps=WARPS
        )
        return c
