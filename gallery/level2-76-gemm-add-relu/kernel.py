# Exported by Kernwright 0.1.0: node 11 of run 20261122-level2-76-gemm-add-relu-a3fa, by Claude (Anthropic).
# problem: level2_76_Gemm_Add_ReLU (55ce760e3dd288f78207fa598cc3b4ce)
# verdict: verified
# speedup: 4.248x [4.220, 4.275], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H100 80GB HBM3/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# evidence: kernel.bundle.json, bundle d95a30fb49e8199330dbd4eeab69a15f6f8bf30c98fc7895061f463d81e9d508
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Product, bias, ReLU: float16 pairs, the weight split on its way to the tensor core.

The weight is read as it is: tiles of float32, scaled and split into two float16 parts in registers, where wgmma takes
its first operand from; only x (1/9 of the numbers) is packed before. A row's power of two is guessed from its first
BLOCK_K numbers with room for 512 times as much; where sums come out infinite after all, the row is searched and the
tile made again, so the result does not depend on the guess.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_M = 128
BLOCK_N = 256
BLOCK_K = 32
STAGES = 4
GROUP = 8

HALF = BLOCK_M

KNOBS = {"BLOCK_K": [32, 64], "STAGES": [2, 3, 4], "GROUP": [8, 4, 16]}


@triton.jit
def power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def exponent_of(largest):
    """Of the largest magnitude; no less than -100, so that its factor is a float32."""
    return tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)


@triton.jit
def pack(x, packed, exponents, k, rows: tl.constexpr, block: tl.constexpr):
    """Rows of the smaller operand as small parts beside large parts."""
    first = tl.program_id(0).to(tl.int64) * rows
    row = tl.arange(0, rows)
    at = tl.arange(0, block)
    inside = (at < k)[None, :]
    value = tl.load(x + (first + row)[:, None] * k + at[None, :], mask=inside, other=0.0)
    exponent = exponent_of(tl.max(tl.abs(value), 1))
    value *= power(14 - exponent)[:, None]
    large = value.to(tl.float16)
    small = (value - large.to(tl.float32)).to(tl.float16)
    to = packed + (first + row)[:, None] * (2 * k) + at[None, :]
    tl.store(to, small, mask=inside)
    tl.store(to + k, large, mask=inside)
    tl.store(exponents + first + row, exponent - 14)


@triton.jit
def sums(a, b, a_row, b_row, exponent, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr):
    """a is split here, in registers, scaled by 2^-exponent; b lies as small | large parts."""
    raised = power(-exponent)[:, None]
    acc = tl.zeros((bm, bn), tl.float32)
    for at in tl.range(0, k, bk, num_stages=stages):
        value = a.load([a_row, at]) * raised
        large = value.to(tl.float16)
        small = (value - large.to(tl.float32)).to(tl.float16)
        b_large = b.load([b_row, k + at]).T
        acc = tl.dot(small, b_large, acc)
        acc = tl.dot(large, b.load([b_row, at]).T, acc)
        acc = tl.dot(large, b_large, acc)
    return acc


@triton.jit
def end(acc, row, col, exponents, q, y, bias, m, n, bm: tl.constexpr, bn: tl.constexpr):
    rows = row + tl.arange(0, bm)
    cols = col + tl.arange(0, bn)
    p = tl.load(exponents + rows)
    v = acc * (power(p >> 1)[:, None] * power(q >> 1)[None, :])
    v *= power(p - (p >> 1))[:, None] * power(q - (q >> 1))[None, :]
    v += tl.load(bias + cols)[None, :]
    v = tl.where(v < 0, 0.0, v)
    tl.store(y + row.to(tl.int64) * n + col + tl.arange(0, bm)[:, None] * n + tl.arange(0, bn)[None, :], v)


@triton.jit
def product(
    a, b, exponents, y, bias, m, n, k,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, group: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    """a: the weight (n, k), b: parts of x (m, 2 k); tiles are computed the other way round."""
    tiles_a = n // bm
    tiles_b = m // bn
    first = tl.program_id(0) // (group * tiles_b) * group
    height = tl.minimum(tiles_a - first, group)
    inner = tl.program_id(0) % (group * tiles_b)
    a_row = (first + inner % height) * bm
    b_row = inner // height * bn
    exponent = exponent_of(tl.max(tl.abs(a.load([a_row, 0])), 1)) - 6
    acc = sums(a, b, a_row, b_row, exponent, k, bm, bn, bk, stages)
    if tl.max(tl.max((acc - acc != 0.0).to(tl.int32), 1), 0) > 0:  # one was too large for the guess, or is infinite
        largest = tl.zeros((bm,), tl.float32)
        for at in tl.range(0, k, bk, num_stages=1):
            largest = tl.maximum(largest, tl.max(tl.abs(a.load([a_row, at])), 1))
        exponent = exponent_of(largest) - 14
        acc = sums(a, b, a_row, b_row, exponent, k, bm, bn, bk, stages)
    left, right = tl.split(tl.permute(tl.reshape(acc, (bm, 2, bn // 2)), (0, 2, 1)))
    end(left.T, b_row, a_row, exponents, exponent, y, bias, m, n, bn // 2, bm)
    end(right.T, b_row + bn // 2, a_row, exponents, exponent, y, bias, m, n, bn // 2, bm)


class ModelNew(torch.nn.Module):
    """Product, bias, ReLU."""

    def __init__(self, in_features, out_features, bias_shape):
        super().__init__()
        self.gemm = torch.nn.Linear(in_features, out_features, bias=False)
        self.bias = torch.nn.Parameter(torch.randn(bias_shape))

    def plain(self, x):
        return torch.relu(self.gemm(x) + self.bias)

    def forward(self, x):
        weight = self.gemm.weight
        if x.dim() != 2 or x.dtype != torch.float32 or not weight.is_contiguous():
            return self.plain(x)
        x = x.contiguous()
        (m, k), n = x.shape, weight.shape[0]
        rows = max(1, 8192 // triton.next_power_of_2(k))  # packed by one program
        if not (
            n % BLOCK_M == 0 and m % BLOCK_N == 0 and k % BLOCK_K == 0 and m % rows == 0 and self.bias.numel() == n
        ):
            return self.plain(x)
        packed = torch.empty((m, 2 * k), device=x.device, dtype=torch.float16)
        exponents = torch.empty(m, device=x.device, dtype=torch.int32)
        y = x.new_empty(m, n)
        pack[(m // rows,)](x, packed, exponents, k, rows=rows, block=triton.next_power_of_2(k), num_warps=8)
        product[(n // BLOCK_M * (m // BLOCK_N),)](
            TensorDescriptor.from_tensor(weight, [BLOCK_M, BLOCK_K]),
            TensorDescriptor.from_tensor(packed, [BLOCK_N, BLOCK_K]),
            exponents,
            y,
            self.bias,
            m,
            n,
            k,
            bm=BLOCK_M,
            bn=BLOCK_N,
            bk=BLOCK_K,
            group=GROUP,
            stages=STAGES,
            num_warps=8,
        )
        return y
