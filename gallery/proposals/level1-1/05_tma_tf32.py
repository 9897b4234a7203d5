"""TF32 allowed: B transposed once, so that both operands come by TMA as wgmma reads them."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_M = 128
BLOCK_N = 256
BLOCK_K = 32
STAGES = 4
GROUP = 8

KNOBS = {
    "BLOCK_N": [128, 256],
    "STAGES": [3, 4],
    "GROUP": [4, 8, 16],
}


@triton.jit
def _transpose(x, y, rows, cols, pitch, high: tl.constexpr, wide: tl.constexpr):
    row = tl.program_id(1) * high + tl.arange(0, high)
    col = tl.program_id(0) * wide + tl.arange(0, wide)
    inside = (row < rows)[:, None] & (col < cols)[None, :]
    value = tl.load(x + row.to(tl.int64)[:, None] * cols + col[None, :], mask=inside, other=0.0)
    there = (col < cols)[:, None] & (row < pitch)[None, :]
    tl.store(y + col.to(tl.int64)[:, None] * pitch + row[None, :], tl.trans(value), mask=there)


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
    row = (first + inner % height) * bm
    col = inner // height * bn
    acc = tl.zeros((bm, bn), tl.float32)
    for at in tl.range(0, k, bk, num_stages=stages):
        acc = tl.dot(a.load([row, at]), b.load([col, at]).T, acc, input_precision="tf32")
    rows = row + tl.arange(0, bm)
    cols = col + tl.arange(0, bn)
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    tl.store(c + rows.to(tl.int64)[:, None] * n + cols[None, :], acc, mask=inside)


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        known = a.dim() == 2 and b.dim() == 2 and a.dtype == torch.float32 and b.dtype == torch.float32
        if not known or a.shape[1] % 4:
            return torch.matmul(a, b)
        a, b = a.contiguous(), b.contiguous()
        (m, k), n = a.shape, b.shape[1]
        turned = torch.empty((n, k), device=a.device, dtype=torch.float32)
        c = torch.empty((m, n), device=a.device, dtype=torch.float32)
        _transpose[(triton.cdiv(n, 64), triton.cdiv(k, 64))](b, turned, k, n, k, high=64, wide=64, num_warps=8)
        _product[(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)](
            TensorDescriptor.from_tensor(a, [BLOCK_M, BLOCK_K]),
            TensorDescriptor.from_tensor(turned, [BLOCK_N, BLOCK_K]),
            c, m, n, k,
            bm=BLOCK_M, bn=BLOCK_N, bk=BLOCK_K, group=GROUP, stages=STAGES, num_warps=8,
        )  # fmt: skip
        return c
