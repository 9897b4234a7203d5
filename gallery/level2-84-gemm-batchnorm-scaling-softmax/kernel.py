# Exported by Kernwright 0.1.0: node 5 of run 20261122-level2-84-gemm-batchnorm-scaling-8fd9, by Claude (Anthropic).
# problem: level2_84_Gemm_BatchNorm_Scaling_Softmax (d2e04ddfd1e414834f663bca493c473f)
# verdict: verified
# speedup: 3.676x [3.664, 3.689], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H200/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# note: not watched: compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME
# evidence: kernel.bundle.json, bundle eefb00a1890f4d30c09ee77d6c6e0dbb2a01e45c56199c185ea22132515fbc4f
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Linear, batch norm, scale, softmax: float16 pairs, K in pieces, sums kept in the L2 cache.

Tensor cores truncate their sums, which shows over a long K. So the product of the large parts is made in PIECES:
between them the tile's sums go to memory and are added there in float32, rounded to nearest; the registers stay free
for a tile of 128 x 256. Rows of x and of the weight are scaled by powers of two and split into two float16 parts each,
small products are added up first.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_M = 128
BLOCK_N = 256
BLOCK_K = 64
PIECES = 4
STAGES = 4
GROUP = 8
HALF = BLOCK_N // 2

KNOBS = {"PIECES": [4, 8], "STAGES": [4, 3], "GROUP": [8, 4, 16]}


@triton.jit
def power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def pack(x, weight, packed, exponents, m, total, k, rows: tl.constexpr, block: tl.constexpr):
    """Rows of x, then of the weight, as small parts beside large parts; the first rows last, to be in the L2 cache."""
    first = total - (tl.program_id(0) + 1) * rows
    if first < m:  # noqa: SIM108
        source = x + first.to(tl.int64) * k
    else:
        source = weight + (first - m).to(tl.int64) * k
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
    tl.store(to, small, mask=inside)
    tl.store(to + k, large, mask=inside)
    tl.store(exponents + first + row, exponent - 14)


@triton.jit
def keep(acc, y, n, fresh, bm: tl.constexpr, bn: tl.constexpr):
    there = y + tl.arange(0, bm)[:, None] * n + tl.arange(0, bn)[None, :]
    if fresh == 0:
        acc += tl.load(there)
    tl.store(there, acc)


@triton.jit
def kept(acc, y, n, bm: tl.constexpr, bn: tl.constexpr):
    return acc + tl.load(y + tl.arange(0, bm)[:, None] * n + tl.arange(0, bn)[None, :])


@triton.jit
def end(
    acc,
    row,
    col,
    exponents,
    y,
    stats,
    bias,
    mean,
    var,
    gamma,
    beta,
    factor,
    eps,
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
    scale = tl.load(factor)
    slope = tl.load(gamma + cols) / tl.sqrt(tl.load(var + cols) + eps) * scale
    shift = (tl.load(bias + cols) - tl.load(mean + cols)) * slope + tl.load(beta + cols) * scale
    v = v * slope[None, :] + shift[None, :]
    top = tl.max(v, 1)
    v = tl.exp(v - top[:, None])
    part = stats + (col // bn) * m + rows  # (2, tiles, m): the largest and the sum of each row's piece
    tl.store(part, top)
    tl.store(part + (n // bn) * m, tl.sum(v, 1))
    tl.store(y + row.to(tl.int64) * n + col + tl.arange(0, bm)[:, None] * n + tl.arange(0, bn)[None, :], v)


@triton.jit
def product(
    a, b, exponents, y, stats, bias, mean, var, gamma, beta, factor, eps, m, n, k, pieces,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, group: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    tiles_m = m // bm
    tiles_n = n // bn
    first = tl.program_id(0) // (group * tiles_n) * group
    height = tl.minimum(tiles_m - first, group)
    inner = tl.program_id(0) % (group * tiles_n)
    row = (first + inner % height) * bm
    col = inner // height * bn
    place = y + row.to(tl.int64) * n + col
    step = k // pieces
    acc = tl.zeros((bm, bn), tl.float32)
    for at in tl.range(0, k, bk, num_stages=stages):
        acc = tl.dot(a.load([row, at]), b.load([col, k + at]).T, acc)
    for at in tl.range(0, k, bk, num_stages=stages):
        acc = tl.dot(a.load([row, k + at]), b.load([col, at]).T, acc)
    acc *= 1.0 / 2048.0
    for start in tl.range(k, 2 * k - step, step, num_stages=1):
        for at in tl.range(start, start + step, bk, num_stages=stages):
            acc = tl.dot(a.load([row, at]), b.load([col, at]).T, acc)
        left, right = tl.split(tl.permute(tl.reshape(acc, (bm, 2, bn // 2)), (0, 2, 1)))
        keep(left, place, n, start == k, bm, bn // 2)
        keep(right, place + bn // 2, n, start == k, bm, bn // 2)
        acc = tl.zeros((bm, bn), tl.float32)
        tl.debug_barrier()
    for at in tl.range(2 * k - step, 2 * k, bk, num_stages=stages):
        acc = tl.dot(a.load([row, at]), b.load([col, at]).T, acc)
    left, right = tl.split(tl.permute(tl.reshape(acc, (bm, 2, bn // 2)), (0, 2, 1)))
    if pieces > 1:
        left = kept(left, place, n, bm, bn // 2)
        right = kept(right, place + bn // 2, n, bm, bn // 2)
    end(left, row, col, exponents, y, stats, bias, mean, var, gamma, beta, factor, eps, m, n, bm, bn // 2)
    end(right, row, col + bn // 2, exponents, y, stats, bias, mean, var, gamma, beta, factor, eps, m, n, bm, bn // 2)


@triton.jit
def finish(y, stats, m, n, tiles, width: tl.constexpr, most: tl.constexpr, wide: tl.constexpr):
    """exp(v - tile's largest) of one row, in place, to softmax: a factor for each tile."""
    row = tl.program_id(0)
    tile = tl.arange(0, most)
    tops = tl.load(stats + tile * m + row, mask=tile < tiles, other=-float("inf"))
    sums = tl.load(stats + (tiles + tile) * m + row, mask=tile < tiles, other=0.0)
    top = tl.max(tops, 0)
    total = tl.sum(sums * tl.exp(tops - top), 0)
    at = tl.program_id(1) * wide + tl.arange(0, wide)
    factor = tl.exp(tl.load(stats + (at // width) * m + row, mask=at < n, other=0.0) - top) / total
    place = y + row.to(tl.int64) * n + at
    tl.store(place, tl.load(place, mask=at < n, other=0.0) * factor, mask=at < n)


class ModelNew(torch.nn.Module):
    """Linear, batch norm, scale, softmax."""

    def __init__(self, in_features, out_features, bn_eps=1e-5, bn_momentum=0.1, scale_shape=(1,)):
        super().__init__()
        self.gemm = torch.nn.Linear(in_features, out_features)
        self.bn = torch.nn.BatchNorm1d(out_features, eps=bn_eps, momentum=bn_momentum)
        self.scale = torch.nn.Parameter(torch.ones(scale_shape))
        self.softmax = torch.nn.Softmax(dim=1)

    def plain(self, x):
        return self.softmax(self.scale * self.bn(self.gemm(x)))

    def forward(self, x):
        weight = self.gemm.weight
        if x.dim() != 2 or x.dtype != torch.float32 or not weight.is_contiguous():
            return self.plain(x)
        x = x.contiguous()
        (m, k), n = x.shape, weight.shape[0]
        rows = max(1, 8192 // triton.next_power_of_2(k))  # packed by one program
        if not (
            m % BLOCK_M == 0
            and n % BLOCK_N == 0
            and k % (BLOCK_K * PIECES) == 0
            and m % rows == 0
            and n % rows == 0
            and self.scale.numel() == 1
            and not self.training
        ):
            return self.plain(x)
        packed = torch.empty((m + n, 2 * k), device=x.device, dtype=torch.float16)
        exponents = torch.empty(m + n, device=x.device, dtype=torch.int32)
        y = x.new_empty(m, n)
        stats = x.new_empty(2, n // HALF, m)
        pack[((m + n) // rows,)](
            x, weight, packed, exponents, m, m + n, k, rows=rows, block=triton.next_power_of_2(k), num_warps=8
        )
        product[(m // BLOCK_M * (n // BLOCK_N),)](
            TensorDescriptor.from_tensor(packed[:m], [BLOCK_M, BLOCK_K]),
            TensorDescriptor.from_tensor(packed[m:], [BLOCK_N, BLOCK_K]),
            exponents,
            y,
            stats,
            self.gemm.bias,
            self.bn.running_mean,
            self.bn.running_var,
            self.bn.weight,
            self.bn.bias,
            self.scale,
            self.bn.eps,
            m,
            n,
            k,
            PIECES,
            bm=BLOCK_M,
            bn=BLOCK_N,
            bk=BLOCK_K,
            group=GROUP,
            stages=STAGES,
            num_warps=8,
        )
        tiles = n // HALF
        finish[(m, triton.cdiv(n, 2048))](
            y, stats, m, n, tiles, width=HALF, most=triton.next_power_of_2(tiles), wide=2048, num_warps=4
        )
        return y
