# Exported by Kernwright 0.1.0: node 2 of run 20261126-level1-1-square-matrix-multiplic-8bc6, by Claude (Anthropic).
# problem: level1_1_Square_matrix_multiplication_ (f8b59576bcfe43c4dbfb3e11f6dc93b6)
# verdict: verified
# speedup: 1.394x [1.391, 1.397], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# evidence: kernel.bundle.json, bundle c85e806e576f93e21566eb26e1cb1249906f336c7daa0dc0be1ca5078f120463
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""A B as one float16 product of rows scaled by powers of two, which rounds as TF32 does, in three dependent launches.

A float16 has TF32's ten bits of mantissa and twice its speed. A row of B is scaled by a power of two that goes into
that column of A, before a row of A is scaled by its own; both are packed once. Each kernel lets the next start early.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_N = 256
STAGES = 4
GROUP = 8
PDL = True

KNOBS = {"STAGES": [4, 3], "GROUP": [8, 4, 16], "PDL": [True, False]}

BLOCK_M, BLOCK_K = 128, 64


@triton.jit
def _exponent(largest):
    """Of the largest magnitude; no less than -100, so that its factor is a float32."""
    return tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)


@triton.jit
def _power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def _largest(value):
    """The largest finite magnitude: infinities and nans stay what they are under any scale."""
    size = tl.abs(value)
    return tl.max(tl.where(size < float("inf"), size, 0.0), 0)


@triton.jit
def _pack_b(x, packed, exponents, k, n, padded, width, block: tl.constexpr, pdl: tl.constexpr):
    """Rows of B, scaled, as float16; zeros from k on. Rows of zeros have the least exponent."""
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
    row = tl.program_id(0)
    at = tl.arange(0, block)
    value = tl.load(x + row.to(tl.int64) * n + at, mask=(at < n) & (row < k), other=0.0)
    exponent = _exponent(_largest(value))
    to = packed + row.to(tl.int64) * width + at
    tl.store(to, (value * _power(14 - exponent)).to(tl.float16), mask=at < width)
    tl.store(exponents + row, exponent)


@triton.jit
def _pack_a(x, packed, column_exponents, exponents, k, padded, block: tl.constexpr, pdl: tl.constexpr):
    """A row of A as float16, times the powers of two that rows of B were divided by."""
    row = tl.program_id(0)
    at = tl.arange(0, block)
    value = tl.load(x + row.to(tl.int64) * k + at, mask=at < k, other=0.0)
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    powers = tl.load(column_exponents + at, mask=at < k, other=-100)
    most = tl.max(powers, 0)
    value *= _power(tl.maximum(powers - most, -126))
    exponent = _exponent(_largest(value))
    to = packed + row.to(tl.int64) * padded + at
    tl.store(to, (value * _power(14 - exponent)).to(tl.float16), mask=at < padded)
    tl.store(exponents + row, exponent + most - 28)


@triton.jit
def _product(
    a, b, exponents, c, m, n, padded,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, group: tl.constexpr, stages: tl.constexpr,
    pdl: tl.constexpr,
):  # fmt: skip
    if pdl:
        tl.extra.cuda.gdc_wait()
    tiles_m = tl.cdiv(m, bm)
    tiles_n = tl.cdiv(n, bn)
    first = tl.program_id(0) // (group * tiles_n) * group
    height = tl.minimum(tiles_m - first, group)
    inner = tl.program_id(0) % (group * tiles_n)
    row = (first + inner % height) * bm
    col = inner // height * bn
    acc = tl.zeros((bm, bn), tl.float32)
    for at in tl.range(0, padded, bk, num_stages=stages):
        acc = tl.dot(a.load([row, at]), b.load([at, col]), acc)
    rows = row + tl.arange(0, bm)
    cols = col + tl.arange(0, bn)
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    p = tl.load(exponents + rows, mask=rows < m, other=0)
    p = tl.minimum(tl.maximum(p, -250), 250)
    acc = acc * _power(p >> 1)[:, None] * _power(p - (p >> 1))[:, None]
    tl.store(c + rows.to(tl.int64)[:, None] * n + cols[None, :], acc, mask=inside)


def product(a, b):
    m, k = a.shape
    n = b.shape[1]
    padded = triton.cdiv(k, BLOCK_K) * BLOCK_K
    width = triton.cdiv(n, 64) * 64
    rows = torch.empty((m, padded), device=a.device, dtype=torch.float16)
    cols = torch.empty((padded, width), device=a.device, dtype=torch.float16)
    exponents = torch.empty(m + padded, device=a.device, dtype=torch.int32)
    c = torch.empty((m, n), device=a.device, dtype=torch.float32)
    more = {"launch_pdl": True} if PDL else {}
    _pack_b[(padded,)](
        b, cols, exponents[m:], k, n, padded, width, block=triton.next_power_of_2(width), pdl=PDL, num_warps=8
    )
    _pack_a[(m,)](
        a, rows, exponents[m:], exponents, k, padded, block=triton.next_power_of_2(padded), pdl=PDL, num_warps=8, **more
    )
    _product[(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)](
        TensorDescriptor.from_tensor(rows, [BLOCK_M, BLOCK_K]),
        TensorDescriptor.from_tensor(cols, [BLOCK_K, BLOCK_N]),
        exponents, c, m, n, padded,
        bm=BLOCK_M, bn=BLOCK_N, bk=BLOCK_K, group=GROUP, stages=STAGES, pdl=PDL, num_warps=8, **more,
    )  # fmt: skip
    return c


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        known = a.dim() == 2 and b.dim() == 2 and a.dtype == b.dtype == torch.float32
        if not known or max(a.shape[1], b.shape[1]) > 32768:
            return torch.matmul(a, b)
        return product(a.contiguous(), b.contiguous())
