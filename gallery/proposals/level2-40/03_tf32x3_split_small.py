"""Linear, scaling, residual: three TF32 products, small operand split first, large in kernel."""

import torch
import triton
import triton.language as tl

KNOBS = {
    "TILE": ["128x128x32x8x3", "128x128x32x8x4", "128x64x32x4x3", "64x128x32x4x2"],
    "GROUP": [8, 16],
    "LOADS": ["pointers", "tma"],
}
TILE = "128x128x32x8x3"  # rows of a, rows of b, block of K, warps, stages
GROUP = 8
LOADS = "pointers"
BM, BN, BK, WARPS, STAGES = (int(part) for part in TILE.split("x"))


@triton.jit
def near(v, bits: tl.constexpr):
    """Rounded to the nearest number whose last `bits` bits are 0."""
    half: tl.constexpr = 1 << (bits - 1)
    mask: tl.constexpr = -(1 << bits)
    return ((v.to(tl.int32, bitcast=True) + half) & mask).to(tl.float32, bitcast=True)


@triton.jit
def split(s_ptr, p_ptr, total, block: tl.constexpr):
    """Two parts of 11 bits each, which tensor cores take as they are, as two matrices one behind the other."""
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = at < total
    v = tl.load(s_ptr + at, mask=inside, other=0.0)
    first = near(v, 13)
    tl.store(p_ptr + at, first, mask=inside)
    tl.store(p_ptr + total + at, near(v - first, 13), mask=inside)


@triton.jit
def gemm(
    a_ptr, p_ptr, bias_ptr, y_ptr, m, n, k, factor,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, group: tl.constexpr, tma: tl.constexpr,
):  # fmt: skip
    """a is split here, in registers; three products of exact TF32 parts, small ones first."""
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
        b_tiles = tl.make_tensor_descriptor(p_ptr, [2 * n, k], [k, 1], [bn, bk])
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
        else:
            a = tl.load(a_at + start)
            b1 = tl.load(b_at + start).T
            b2 = tl.load(b_at + plane + start).T
        a1 = near(a, 13)
        # The operands are what TF32 holds: nothing is lost by this choice of instruction.
        d = tl.dot(a - a1, b1, input_precision="tf32")
        d = tl.dot(a1, b2, d, input_precision="tf32")
        d = tl.dot(a1, b1, d, input_precision="tf32")
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
        parts = torch.empty(2, *weight.shape, dtype=torch.float32, device=x.device)
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
