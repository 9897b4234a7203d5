# Exported by Kernwright 0.1.0: node 17 of run 20261122-level1-1-square-matrix-multiplic-af61, by Claude (Anthropic).
# problem: level1_1_Square_matrix_multiplication_ (215be2bd1d4d66245b25405255894cbd)
# verdict: verified
# speedup: 4.300x [4.288, 4.311], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle 462afecf1570ff3412e51a5f097c31d988f5444e68e1b1926d8c3343b73de4ef
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Three dependent launches that overlap: A's rows are on their way before B's exponents are there.

Each kernel lets the next one start as it begins; that one loads what does not depend on it and waits. The gaps and
tails of three launches, some 10 microseconds, are filled. Sums as in 07.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_N = 256
STAGES = 4
CHUNK = 2048
GROUP = 8
PDL = True

KNOBS = {
    "PDL": [True, False],
    "BLOCK_N": [128, 256],
    "STAGES": [3, 4],
    "CHUNK": [1024, 2048, 4096],
    "GROUP": [4, 8, 16],
}

BLOCK_M, BLOCK_K = 128, 64


@triton.jit
def _exponent(largest):
    """Of the largest magnitude; no less than -100, so that its factor is a float32."""
    return tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)


@triton.jit
def _power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def _store_parts(value, large_at, small_at, mask):
    large = value.to(tl.float16)
    tl.store(large_at, large, mask=mask)
    tl.store(small_at, ((value - large.to(tl.float32)) * 2048.0).to(tl.float16), mask=mask)


@triton.jit
def _pack_b(x, packed, exponents, k, n, padded, width, block: tl.constexpr, pdl: tl.constexpr):
    """Rows of large parts, then of small ones; zeros from k on. Rows of zeros have the least exponent."""
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
    row = tl.program_id(0)
    at = tl.arange(0, block)
    value = tl.load(x + row.to(tl.int64) * n + at, mask=(at < n) & (row < k), other=0.0)
    exponent = _exponent(tl.max(tl.abs(value), 0))
    to = packed + row.to(tl.int64) * width + at
    _store_parts(value * _power(14 - exponent), to, to + padded.to(tl.int64) * width, at < width)
    tl.store(exponents + row, exponent)


@triton.jit
def _pack_a(x, packed, column_exponents, exponents, k, padded, block: tl.constexpr, pdl: tl.constexpr):
    """A row as large parts, then small parts, times the powers of two that rows of B were divided by."""
    row = tl.program_id(0)
    at = tl.arange(0, block)
    value = tl.load(x + row.to(tl.int64) * k + at, mask=at < k, other=0.0)
    if pdl:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    powers = tl.load(column_exponents + at, mask=at < k, other=-100)
    most = tl.max(powers, 0)
    value *= _power(tl.maximum(powers - most, -126))
    exponent = _exponent(tl.max(tl.abs(value), 0))
    to = packed + row.to(tl.int64) * (2 * padded) + at
    _store_parts(value * _power(14 - exponent), to, to + padded, at < padded)
    tl.store(exponents + row, exponent + most - 28)


@triton.jit
def _product(
    a, b, exponents, c, m, n, padded,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, chunk: tl.constexpr, group: tl.constexpr,
    stages: tl.constexpr, pdl: tl.constexpr,
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
    for start in tl.range(0, padded, chunk):
        length = tl.minimum(chunk, padded - start)
        acc = tl.zeros((bm, bn), tl.float32)
        for at in tl.range(0, 2 * length, bk, num_stages=stages):  # small times large, then large times small
            second = at >= length
            x_at = start + tl.where(second, at - length, at + padded)
            y_at = start + tl.where(second, at - length + padded, at)
            acc = tl.dot(a.load([row, x_at]), b.load([y_at, col]), acc)
        acc *= 1.0 / 2048.0
        for at in tl.range(start, start + length, bk, num_stages=stages):
            acc = tl.dot(a.load([row, at]), b.load([at, col]), acc)
        rows = row + tl.arange(0, bm)
        cols = col + tl.arange(0, bn)
        inside = (rows < m)[:, None] & (cols < n)[None, :]
        p = tl.load(exponents + rows, mask=rows < m, other=0)
        p = tl.minimum(tl.maximum(p, -250), 250)
        to = c + rows.to(tl.int64)[:, None] * n + cols[None, :]
        acc = acc * _power(p >> 1)[:, None] * _power(p - (p >> 1))[:, None]
        if start == 0:
            tl.store(to, acc, mask=inside)
        else:  # nobody else adds to this tile: the order is always the same
            tl.atomic_add(to, acc, mask=inside, sem="relaxed")


def product(a, b):
    m, k = a.shape
    n = b.shape[1]
    padded = triton.cdiv(k, BLOCK_K) * BLOCK_K
    width = triton.cdiv(n, 64) * 64
    rows = torch.empty((m, 2 * padded), device=a.device, dtype=torch.float16)
    cols = torch.empty((2 * padded, width), device=a.device, dtype=torch.float16)
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
        bm=BLOCK_M, bn=BLOCK_N, bk=BLOCK_K, chunk=CHUNK, group=GROUP, stages=STAGES, pdl=PDL, num_warps=8, **more,
    )  # fmt: skip
    return c


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        known = a.dim() == 2 and b.dim() == 2 and a.dtype == b.dtype == torch.float32
        if not known or max(a.shape[1], b.shape[1]) > 32768:
            return torch.matmul(a, b)
        return product(a.contiguous(), b.contiguous())
