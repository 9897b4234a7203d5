# Exported by Kernwright 0.1.0: node 1 of run 20261126-level2-99-matmul-gelu-softmax-2c55, by Claude (Anthropic).
# problem: level2_99_Matmul_GELU_Softmax (9e6294d9ad59129b6a48d4c80599ab1d)
# verdict: verified
# speedup: 0.455x [0.453, 0.456], 95 % interval, against torch.compile
# threads: 1; cache: cold
# It is not shown to be faster than the baseline.
# machine: NVIDIA H100 80GB HBM3/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# note: not watched: it follows barriers, not fences and atomics, nor the copies of cuBLAS, which may order accesses here; racecheck reports Race reported between Read access at nvjet_sm90_hss_128x256_64x4_2x1_v_bz_coopA_TNN+0x970
# note: not watched: results are right where PyTorch fills fresh memory with NaN, so that it makes no difference; initcheck reports Uninitialized __global__ memory read of size 16 bytes in finish+0x190 in 10_fp16x3_cublas.py:52
# note: drift: the baseline's own times changed by -0.3% over a race, more than the speedup's lower bound is above 1
# evidence: kernel.bundle.json, bundle ed3e7b02bf987a26cafa47fef2e8f4694fab362e2e8419c3a41ca33e565813b2
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Linear, GELU, softmax: float16 pairs, cuBLAS products, one kernel behind.

Rows of x and of the weight, scaled by powers of two, as two float16 parts each (three bfloat16 parts need twice the
products). The small products are one cuBLAS call over 2 K; the large ones are made in PIECES of K, as tensor cores
truncate sums, and added in float32 by the kernel that does the rest.
"""

import torch
import triton
import triton.language as tl

PIECES = 4
WARPS = 8

KNOBS = {"PIECES": [4, 8], "WARPS": [8, 4, 16]}


@triton.jit
def power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def pack(x, weight, packed, exponents, m, total, k, rows: tl.constexpr, block: tl.constexpr):
    """Rows of x, then of the weight, as small and large parts beside each other."""
    first = total - (tl.program_id(0) + 1) * rows
    if first < m:  # noqa: SIM108
        source = x + first.to(tl.int64) * k
    else:
        source = weight + (first - m).to(tl.int64) * k
    turned = tl.multiple_of(tl.where(first < m, 0, k), 16)  # the weight's large parts come first
    row = tl.arange(0, rows)
    at = tl.arange(0, block)
    inside = (at < k)[None, :]
    value = tl.load(source + row[:, None] * k + at[None, :], mask=inside, other=0.0)
    largest = tl.max(tl.abs(value), 1)
    exponent = tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)
    value *= power(14 - exponent)[:, None]
    large = value.to(tl.float16)
    small = ((value - large.to(tl.float32)) * 2048.0).to(tl.float16)
    to = packed + first.to(tl.int64) * (2 * k) + row[:, None] * (2 * k) + at[None, :]
    tl.store(to + turned, small, mask=inside)
    tl.store(to + (k - turned), large, mask=inside)
    tl.store(exponents + first + row, exponent - 14)


@triton.jit
def finish(cross, main, exponents, y, bias, m, n, pieces: tl.constexpr, block: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * block + tl.arange(0, block)
    at = row.to(tl.int64) * n + cols
    sums = tl.load(cross + at) * (1.0 / 2048.0)
    for piece in tl.static_range(pieces):
        sums += tl.load(main + piece * m.to(tl.int64) * n + at)
    total = tl.load(exponents + row) + tl.load(exponents + m + cols)
    v = (sums * power(total >> 1) * power(total - (total >> 1)))[None, :]
    v += tl.load(bias + cols)[None, :]
    v = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    v = tl.exp(v - tl.max(v, 1)[:, None])
    tl.store(y + at[None, :], v * (1.0 / tl.sum(v, 1))[:, None])


def products(a, b):
    multiply = torch.mm if a.dim() == 2 else torch.bmm
    return multiply(a, b, out_dtype=torch.float32) if a.is_cuda else multiply(a.float(), b.float())


class ModelNew(torch.nn.Module):
    """Linear, GELU, softmax."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = torch.nn.Linear(in_features, out_features)

    def plain(self, x):
        return torch.nn.functional.softmax(torch.nn.functional.gelu(self.linear(x)), dim=1)

    def forward(self, x):
        weight = self.linear.weight
        if x.dim() != 2 or x.dtype != torch.float32 or not weight.is_contiguous():
            return self.plain(x)
        x = x.contiguous()
        (m, k), n = x.shape, weight.shape[0]
        rows = max(1, 8192 // triton.next_power_of_2(k))  # packed by one program
        if not (n == triton.next_power_of_2(n) and k % (8 * PIECES) == 0 and m % rows == 0 and n % rows == 0):
            return self.plain(x)
        packed = torch.empty((m + n, 2 * k), device=x.device, dtype=torch.float16)
        exponents = torch.empty(m + n, device=x.device, dtype=torch.int32)
        pack[((m + n) // rows,)](
            x, weight, packed, exponents, m, m + n, k, rows=rows, block=triton.next_power_of_2(k), num_warps=8
        )
        left, right = packed[:m], packed[m:]
        cross = products(left, right.T)
        a = left[:, k:].unflatten(1, (PIECES, -1)).transpose(0, 1)
        b = right[:, :k].unflatten(1, (PIECES, -1)).permute(1, 2, 0)
        main = products(a, b)
        y = cross
        finish[(m, 1)](cross, main, exponents, y, self.linear.bias, m, n, pieces=PIECES, block=n, num_warps=WARPS)
        return y
