# Exported by Kernwright 0.1.0: node 3 of run 20261126-level2-37-matmul-swish-sum-group-c00f, by Claude (Anthropic).
# problem: level2_37_Matmul_Swish_Sum_GroupNorm (82edf0489fd7c8be3698b9f3da3b653e)
# verdict: verified
# speedup: 1.710x [1.551, 1.885], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# evidence: kernel.bundle.json, bundle 4226304ece9a9c25f1dc9b63ecb718d97b17b5d4c4e3ae9e04121948b177f778
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Linear, Swish, bias, GroupNorm: one float16 product by small tiles, two programs a multiprocessor.

A float16 has TF32's ten bits of mantissa and twice its speed. Rows of x and of the weight are scaled so that their
largest is near 2^14 and packed once. With k = 1024 much of the time goes to the ends of tiles: of two programs of
128 x 128 on a multiprocessor, one multiplies while the other computes and writes its end.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_M = 128
BLOCK_N = 128
BLOCK_K = 64
STAGES = 3
GROUP = 8
WARPS = 4
PDL = True

HALF = BLOCK_N // 2

KNOBS = {"STAGES": [3, 2], "GROUP": [8, 4, 16], "WARPS": [4, 8]}


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
def pack(x, weight, packed, exponents, m, total, k, rows: tl.constexpr, block: tl.constexpr, pdl: tl.constexpr):
    """Rows of x, then of the weight, scaled, as float16; the first rows last, to be in the L2 cache."""
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
    first = total - (tl.program_id(0) + 1) * rows
    if first < m:  # noqa: SIM108
        source = x + first.to(tl.int64) * k
    else:
        source = weight + (first - m).to(tl.int64) * k
    row = tl.arange(0, rows)
    at = tl.arange(0, block)
    inside = (at < k)[None, :]
    value = tl.load(source + row[:, None] * k + at[None, :], mask=inside, other=0.0)
    exponent = exponent_of(largest_of(value))
    to = packed + first.to(tl.int64) * k + row[:, None] * k + at[None, :]
    tl.store(to, (value * power(14 - exponent)[:, None]).to(tl.float16), mask=inside)
    tl.store(exponents + first + row, exponent - 14)


@triton.jit
def end(
    acc,
    row,
    col,
    exponents,
    y,
    bias,
    more,
    gamma,
    beta,
    eps,
    width: tl.constexpr,
    m,
    n,
    bm: tl.constexpr,
    bn: tl.constexpr,
):
    rows = row + tl.arange(0, bm)
    cols = col + tl.arange(0, bn)
    p = tl.load(exponents + rows)
    q = tl.load(exponents + m + cols)
    v = acc * (power(p >> 1)[:, None] * power(q >> 1)[None, :])
    v *= power(p - (p >> 1))[:, None] * power(q - (q >> 1))[None, :]
    v += tl.load(bias + cols)[None, :]
    v = v * tl.sigmoid(v) + tl.load(more + cols)[None, :]
    u = tl.reshape(v, (bm, bn // width, width))  # every group of a row lies in this tile
    u -= (tl.sum(u, 2) / width)[:, :, None]
    u *= tl.rsqrt(tl.sum(u * u, 2) / width + eps)[:, :, None]
    v = tl.reshape(u, (bm, bn)) * tl.load(gamma + cols)[None, :] + tl.load(beta + cols)[None, :]
    tl.store(y + row.to(tl.int64) * n + col + tl.arange(0, bm)[:, None] * n + tl.arange(0, bn)[None, :], v)


@triton.jit
def product(
    a, b, exponents, y, bias, more, gamma, beta, eps, width: tl.constexpr, m, n, k,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, group: tl.constexpr, stages: tl.constexpr,
    pdl: tl.constexpr,
):  # fmt: skip
    if pdl:
        tl.extra.cuda.gdc_wait()
    tiles_m = m // bm
    tiles_n = n // bn
    first = tl.program_id(0) // (group * tiles_n) * group
    height = tl.minimum(tiles_m - first, group)
    inner = tl.program_id(0) % (group * tiles_n)
    row = (first + inner % height) * bm
    col = inner // height * bn
    acc = tl.zeros((bm, bn), tl.float32)
    for step in tl.range(0, k // bk, num_stages=stages):
        acc = tl.dot(a.load([row, step * bk]), b.load([col, step * bk]).T, acc)
    left, right = tl.split(tl.permute(tl.reshape(acc, (bm, 2, bn // 2)), (0, 2, 1)))
    end(left, row, col, exponents, y, bias, more, gamma, beta, eps, width, m, n, bm, bn // 2)
    end(right, row, col + bn // 2, exponents, y, bias, more, gamma, beta, eps, width, m, n, bm, bn // 2)


class ModelNew(torch.nn.Module):
    """Linear, Swish, bias, GroupNorm."""

    def __init__(self, in_features, out_features, num_groups, bias_shape):
        super().__init__()
        self.matmul = torch.nn.Linear(in_features, out_features)
        self.bias = torch.nn.Parameter(torch.randn(bias_shape))
        self.group_norm = torch.nn.GroupNorm(num_groups, out_features)

    def plain(self, x):
        y = self.matmul(x)
        return self.group_norm(torch.sigmoid(y) * y + self.bias)

    def forward(self, x):
        weight = self.matmul.weight
        if x.dim() != 2 or x.dtype != torch.float32 or not weight.is_contiguous():
            return self.plain(x)
        x = x.contiguous()
        (m, k), n = x.shape, weight.shape[0]
        width = n // self.group_norm.num_groups
        rows = max(1, 8192 // triton.next_power_of_2(k))  # packed by one program
        if not (
            m % BLOCK_M == 0
            and n % BLOCK_N == 0
            and k % BLOCK_K == 0
            and m % rows == 0
            and n % rows == 0
            and self.bias.numel() == n
            and width & (width - 1) == 0
            and HALF % width == 0
        ):
            return self.plain(x)
        packed = torch.empty((m + n, k), device=x.device, dtype=torch.float16)
        exponents = torch.empty(m + n, device=x.device, dtype=torch.int32)
        y = x.new_empty(m, n)
        pack[((m + n) // rows,)](
            x, weight, packed, exponents, m, m + n, k,
            rows=rows, block=triton.next_power_of_2(k), pdl=PDL, num_warps=8,
        )  # fmt: skip
        more = {"launch_pdl": True} if PDL else {}
        product[(m // BLOCK_M * (n // BLOCK_N),)](
            TensorDescriptor.from_tensor(packed[:m], [BLOCK_M, BLOCK_K]),
            TensorDescriptor.from_tensor(packed[m:], [BLOCK_N, BLOCK_K]),
            exponents,
            y,
            self.matmul.bias,
            self.bias,
            self.group_norm.weight,
            self.group_norm.bias,
            self.group_norm.eps,
            width,
            m,
            n,
            k,
            bm=BLOCK_M,
            bn=BLOCK_N,
            bk=BLOCK_K,
            group=GROUP,
            stages=STAGES,
            pdl=PDL,
            num_warps=WARPS,
            **more,
        )
        return y
