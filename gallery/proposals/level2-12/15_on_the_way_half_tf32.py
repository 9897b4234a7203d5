"""Linear, multiply, leaky ReLU: one float16 product, the weight converted on its way to the tensor core.

A float16 has TF32's ten bits of mantissa and twice its speed. The weight is read as it is: tiles of float32, scaled
and rounded to float16 in registers, where wgmma takes its first operand from; only x (1/9 of the numbers)
is packed before. A factor of 2^10 fits weights between 2^-13 and 64 and lets tiles be read in the order wgmma wants;
where a row has none so large at its start, or sums come out infinite, rows are searched for their own powers of two.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_M = 128
BLOCK_N = 256
PIPE = "64x3"  # block of K, stages
GROUP = 8
PDL = True

KNOBS = {"PIPE": ["64x3", "64x2", "32x4", "32x6"], "GROUP": [8, 4, 16]}

BLOCK_K, STAGES = (int(part) for part in PIPE.split("x"))
HALF = BLOCK_M


@triton.jit
def power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def exponent_of(largest):
    """Of the largest magnitude; no less than -100, so that its factor is a float32."""
    return tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)


@triton.jit
def largest_of(value):
    """The largest finite magnitude of each row: infinities and nans stay what they are under any scale."""
    size = tl.abs(value)
    return tl.max(tl.where(size < float("inf"), size, 0.0), 1)


@triton.jit
def pack(x, packed, exponents, k, rows: tl.constexpr, block: tl.constexpr, pdl: tl.constexpr):
    """Rows of the smaller operand, scaled, as float16."""
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
    first = tl.program_id(0).to(tl.int64) * rows
    row = tl.arange(0, rows)
    at = tl.arange(0, block)
    inside = (at < k)[None, :]
    value = tl.load(x + (first + row)[:, None] * k + at[None, :], mask=inside, other=0.0)
    exponent = exponent_of(largest_of(value))
    to = packed + (first + row)[:, None] * k + at[None, :]
    tl.store(to, (value * power(14 - exponent)[:, None]).to(tl.float16), mask=inside)
    tl.store(exponents + first + row, exponent - 14)


@triton.jit
def sums(a, b, a_row, b_row, raised, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr):
    """a is converted here, in registers, times raised; b lies as float16."""
    acc = tl.zeros((bm, bn), tl.float32)
    for at in tl.range(0, k, bk, num_stages=stages):
        value = (a.load([a_row, at]) * raised).to(tl.float16)
        acc = tl.dot(value, b.load([b_row, at]).T, acc)
    return acc


@triton.jit
def end(acc, row, col, exponents, q, y, bias, factor, slope, m, n, bm: tl.constexpr, bn: tl.constexpr):
    rows = row + tl.arange(0, bm)
    cols = col + tl.arange(0, bn)
    p = tl.load(exponents + rows)
    v = acc * (power(p >> 1)[:, None] * power(q >> 1)[None, :])
    v *= power(p - (p >> 1))[:, None] * power(q - (q >> 1))[None, :]
    v = (v + tl.load(bias + cols)[None, :]) * factor
    v = tl.where(v > 0, v, v * slope)
    tl.store(y + row.to(tl.int64) * n + col + tl.arange(0, bm)[:, None] * n + tl.arange(0, bn)[None, :], v)


@triton.jit
def product(
    a, b, exponents, y, bias, factor, slope, m, n, k,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, group: tl.constexpr, stages: tl.constexpr,
    pdl: tl.constexpr,
):  # fmt: skip
    """a: the weight (n, k), b: packed x (m, k); tiles are computed the other way round."""
    tiles_a = n // bm
    tiles_b = m // bn
    first = tl.program_id(0) // (group * tiles_b) * group
    height = tl.minimum(tiles_a - first, group)
    inner = tl.program_id(0) % (group * tiles_b)
    a_row = (first + inner % height) * bm
    b_row = inner // height * bn
    least = tl.min(exponent_of(largest_of(a.load([a_row, 0]))), 0)
    exponent = tl.full((bm,), -10, tl.int32)
    acc = tl.zeros((bm, bn), tl.float32)
    bad = 1
    if pdl:
        tl.extra.cuda.gdc_wait()
    if least >= -13:  # no row is so small that 2^10 would leave it few bits
        acc = sums(a, b, a_row, b_row, 1024.0, k, bm, bn, bk, stages)
        bad = tl.max(tl.max((acc - acc != 0.0).to(tl.int32), 1), 0)
    if bad > 0:  # a row is small, or one number was too large or is infinite
        largest = tl.zeros((bm,), tl.float32)
        for at in tl.range(0, k, bk, num_stages=1):
            largest = tl.maximum(largest, largest_of(a.load([a_row, at])))
        exponent = exponent_of(largest) - 14
        acc = sums(a, b, a_row, b_row, power(-exponent)[:, None], k, bm, bn, bk, stages)
    left, right = tl.split(tl.permute(tl.reshape(acc, (bm, 2, bn // 2)), (0, 2, 1)))
    end(left.T, b_row, a_row, exponents, exponent, y, bias, factor, slope, m, n, bn // 2, bm)
    end(right.T, b_row + bn // 2, a_row, exponents, exponent, y, bias, factor, slope, m, n, bn // 2, bm)


class ModelNew(torch.nn.Module):
    """Linear, multiply, leaky ReLU."""

    def __init__(self, in_features, out_features, multiplier, negative_slope):
        super().__init__()
        self.gemm = torch.nn.Linear(in_features, out_features)
        self.multiplier = multiplier
        self.leaky_relu = torch.nn.LeakyReLU(negative_slope)

    def plain(self, x):
        return self.leaky_relu(self.gemm(x) * self.multiplier)

    def forward(self, x):
        weight = self.gemm.weight
        if x.dim() != 2 or x.dtype != torch.float32 or not weight.is_contiguous():
            return self.plain(x)
        x = x.contiguous()
        (m, k), n = x.shape, weight.shape[0]
        rows = max(1, 8192 // triton.next_power_of_2(k))  # packed by one program
        if not (n % BLOCK_M == 0 and m % BLOCK_N == 0 and k % BLOCK_K == 0 and m % rows == 0):
            return self.plain(x)
        packed = torch.empty((m, k), device=x.device, dtype=torch.float16)
        exponents = torch.empty(m, device=x.device, dtype=torch.int32)
        y = x.new_empty(m, n)
        pack[(m // rows,)](x, packed, exponents, k, rows=rows, block=triton.next_power_of_2(k), pdl=PDL, num_warps=8)
        more = {"launch_pdl": True} if PDL else {}
        product[(n // BLOCK_M * (m // BLOCK_N),)](
            TensorDescriptor.from_tensor(weight, [BLOCK_M, BLOCK_K]),
            TensorDescriptor.from_tensor(packed, [BLOCK_N, BLOCK_K]),
            exponents,
            y,
            self.gemm.bias,
            self.multiplier,
            self.leaky_relu.negative_slope,
            m,
            n,
            k,
            bm=BLOCK_M,
            bn=BLOCK_N,
            bk=BLOCK_K,
            group=GROUP,
            stages=STAGES,
            pdl=PDL,
            num_warps=8,
            **more,
        )
        return y
