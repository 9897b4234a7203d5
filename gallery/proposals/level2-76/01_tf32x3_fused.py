"""product, bias, ReLU: one Triton GEMM with tf32x3 products, all else on its tiles."""

import torch
import triton
import triton.language as tl

KNOBS = {
    "TILE": ["128x128x32x8x3", "128x128x32x8x4", "128x128x64x8x3", "128x64x32x4x3", "64x128x32x4x3"],
    "GROUP": [8, 16],
    "LOADS": ["pointers", "tma"],
}
TILE = "128x128x32x8x3"  # rows of a, rows of b, block of K, warps, stages
GROUP = 16
LOADS = "pointers"
BM, BN, BK, WARPS, STAGES = (int(part) for part in TILE.split("x"))


@triton.jit
def gemm(
    a_ptr, b_ptr, bias_ptr, y_ptr, m, n, k,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, group: tl.constexpr, tma: tl.constexpr,
):  # fmt: skip
    """Each operand in two TF32 parts, three products; every block of K is added outside the tensor cores."""
    # a: x (m, k); b: weight (n, k)
    tiles_a, tiles_b = m // bm, n // bn
    first = tl.program_id(0) // (group * tiles_b) * group
    height = tl.minimum(tiles_a - first, group)
    within = tl.program_id(0) % (group * tiles_b)
    row0 = (first + within % height) * bm
    col0 = within // height * bn
    row = row0 + tl.arange(0, bm)
    col = col0 + tl.arange(0, bn)
    at_k = tl.arange(0, bk)
    if tma:
        a_tiles = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [bm, bk])
        b_tiles = tl.make_tensor_descriptor(b_ptr, [n, k], [k, 1], [bn, bk])
    else:
        a_at = a_ptr + row[:, None].to(tl.int64) * k + at_k[None, :]
        b_at = b_ptr + col[:, None].to(tl.int64) * k + at_k[None, :]
    acc = tl.zeros((bm, bn), tl.float32)
    for start in range(0, k, bk):
        if tma:
            a = a_tiles.load([row0, start])
            b = b_tiles.load([col0, start])
        else:
            a = tl.load(a_at + start)
            b = tl.load(b_at + start)
        acc = tl.dot(a, b.T, acc, input_precision="tf32x3")
    v = acc
    v += tl.load(bias_ptr + col)[None, :]
    v = tl.where(v < 0, 0.0, v)
    tl.store(y_ptr + row[:, None].to(tl.int64) * n + col[None, :], v)


def scratch(size, alignment, stream):
    return torch.empty(size, dtype=torch.int8, device="cuda")


class ModelNew(torch.nn.Module):
    """product, bias, ReLU."""

    def __init__(self, in_features, out_features, bias_shape):
        super().__init__()
        self.gemm = torch.nn.Linear(in_features, out_features, bias=False)
        self.bias = torch.nn.Parameter(torch.randn(bias_shape))

    def plain(self, x):
        return torch.relu(self.gemm(x) + self.bias)

    def forward(self, x):
        x = x.contiguous()
        weight = self.gemm.weight
        (m, k), n = x.shape, weight.shape[0]
        fits = m % BM == 0 and n % BN == 0 and k % BK == 0
        if not (fits and self.bias.numel() == n):
            return self.plain(x)
        y = x.new_empty(m, n)
        if LOADS == "tma":
            triton.set_allocator(scratch)
        gemm[(m // BM * (n // BN),)](
            x,
            weight,
            self.bias,
            y,
            m,
            n,
            k,
            bm=BM,
            bn=BN,
            bk=BK,
            group=GROUP,
            tma=LOADS == "tma",
            num_warps=WARPS,
            num_stages=STAGES,
        )
        return y
