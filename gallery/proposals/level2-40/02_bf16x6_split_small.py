"""Linear, scaling, residual: six bf16 products, small operand split first, large in kernel."""

import torch
import triton
import triton.language as tl

KNOBS = {
    "TILE": ["128x128x32x8x3", "128x128x64x8x2", "128x128x64x8x3", "128x64x32x4x3", "64x128x32x4x3"],
    "GROUP": [8, 16],
    "LOADS": ["pointers", "tma"],
}
TILE = "128x128x64x8x2"  # rows of a, rows of b, block of K, warps, stages
GROUP = 8
LOADS = "pointers"
BM, BN, BK, WARPS, STAGES = (int(part) for part in TILE.split("x"))


@triton.jit
def cut(v):
    """The upper 8 of 24 bits of each number."""
    return (v.to(tl.int32, bitcast=True) & -65536).to(tl.float32, bitcast=True)


@triton.jit
def near(v, bits: tl.constexpr):
    """Rounded to the nearest number whose last `bits` bits are 0."""
    half: tl.constexpr = 1 << (bits - 1)
    mask: tl.constexpr = -(1 << bits)
    return ((v.to(tl.int32, bitcast=True) + half) & mask).to(tl.float32, bitcast=True)


@triton.jit
def narrow(v):
    """bfloat16 of numbers whose lower half is 0: exact."""
    return (v.to(tl.int32, bitcast=True) >> 16).to(tl.int16).to(tl.bfloat16, bitcast=True)


@triton.jit
def split(s_ptr, p_ptr, total, block: tl.constexpr):
    """Three bfloat16 parts, whose sum is the number itself, as three matrices one behind the other."""
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = at < total
    v = tl.load(s_ptr + at, mask=inside, other=0.0)
    first = cut(v)
    second = near(v - first, 16)
    tl.store(p_ptr + at, narrow(first), mask=inside)
    tl.store(p_ptr + total + at, narrow(second), mask=inside)
    tl.store(p_ptr + 2 * total + at, narrow(v - first - second), mask=inside)


@triton.jit
def gemm(
    a_ptr, p_ptr, bias_ptr, y_ptr, m, n, k, factor,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, group: tl.constexpr, tma: tl.constexpr,
):  # fmt: skip
    """a is split here, in registers; six products of its parts with those of b, small ones first."""
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
        b_tiles = tl.make_tensor_descriptor(p_ptr, [3 * n, k], [k, 1], [bn, bk])
    else:
        a_at = a_ptr + row[:, None].to(tl.int64) * k + at_k[None, :]
        b_at = p_ptr + col[:, None].to(tl.int64) * k + at_k[None, :]
        plane = n.to(tl.int64) * k
    acc = tl.zeros((bm, bn), tl.float32)
    for start in range(0, k, bk):
        if tma:
            a = a_tiles.load([row0, start])
            b1 = b_tiles.load([col0, start]).T
            b2 = b_tiles.load([n + col0, start]).T
            b3 = b_tiles.load([2 * n + col0, start]).T
        else:
            a = tl.load(a_at + start)
            b1 = tl.load(b_at + start).T
            b2 = tl.load(b_at + plane + start).T
            b3 = tl.load(b_at + 2 * plane + start).T
        head = cut(a)
        a1 = narrow(head)
        rest = a - head
        head = near(rest, 16)
        a2 = narrow(head)
        a3 = narrow(rest - head)
        d = tl.dot(a3, b1)
        d = tl.dot(a2, b2, d)
        d = tl.dot(a1, b3, d)
        d = tl.dot(a2, b1, d)
        d = tl.dot(a1, b2, d)
        d = tl.dot(a1, b1, d)
        acc += d  # tensor cores round sums towards zero; here to nearest
    v = acc
    v = (v + tl.load(bias_ptr + col)[None, :]) * factor  # y * s + y
    tl.store(y_ptr + row[:, None].to(tl.int64) * n + col[None, :], v)


def scratch(size, alignment, stream):
    return torch.empty(size, dtype=torch.int8, device="cuda")


class ModelNew(torch.nn.Module):
    """Linear, scaling, residual."""

    def __init__(self, in_features, out_features, scaling_factor):
        super().__init__()
        self.matmul = torch.nn.Linear(in_features, out_features)
        self.scaling_factor = scaling_factor

    def plain(self, x):
        y = self.matmul(x)
        return y * self.scaling_factor + y

    def forward(self, x):
        x = x.contiguous()
        weight = self.matmul.weight
        (m, k), n = x.shape, weight.shape[0]
        fits = m % BM == 0 and n % BN == 0 and k % BK == 0
        if not (fits):
            return self.plain(x)
        parts = torch.empty(3, *weight.shape, dtype=torch.bfloat16, device=x.device)
        split[(triton.cdiv(weight.numel(), 2048),)](weight, parts, weight.numel(), block=2048, num_warps=4)
        y = x.new_empty(m, n)
        if LOADS == "tma":
            triton.set_allocator(scratch)
        gemm[(m // BM * (n // BN),)](
            x,
            parts,
            self.matmul.bias,
            y,
            m,
            n,
            k,
            1.0 + self.scaling_factor,
            bm=BM,
            bn=BN,
            bk=BK,
            group=GROUP,
            tma=LOADS == "tma",
            num_warps=WARPS,
            num_stages=STAGES,
        )
        return y
