# Exported by Kernwright 0.1.0: node 2 of run 20261126-level2-76-gemm-add-relu-a502, by Claude (Anthropic).
# problem: level2_76_Gemm_Add_ReLU (3872f0642562544a6f6091dc93631d7f)
# verdict: verified
# speedup: 1.035x [1.034, 1.037], 95 % interval, against torch.compile
# threads: 1; cache: cold
# machine: NVIDIA H100 80GB HBM3/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# evidence: kernel.bundle.json, bundle 0405dd3ec7f3d0797b3d723244008ae558b064b9df12b2c04a5aef69f120706b
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Product, bias, ReLU: one float16 product of scaled rows, which rounds as TF32 does.

A float16 has TF32's ten bits of mantissa and twice its speed. Rows of x and of the weight are scaled so that their
largest is near 2^14 and packed once; as many programs as there are multiprocessors then take one tile after another in
a flattened loop, so that loads for the next tile are under way while the end of the last is computed and written.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_M = 128
BLOCK_N = 256
BLOCK_K = 64
STAGES = 4
GROUP = 8
PDL = True

PART = BLOCK_N // 4

KNOBS = {"STAGES": [4, 3], "GROUP": [8, 4, 16], "PDL": [True, False]}


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
def end(acc, row, col, exponents, y, bias, m, n, bm: tl.constexpr, bn: tl.constexpr):
    rows = row + tl.arange(0, bm)
    cols = col + tl.arange(0, bn)
    p = tl.load(exponents + rows)
    q = tl.load(exponents + m + cols)
    v = acc * (power(p >> 1)[:, None] * power(q >> 1)[None, :])
    v *= power(p - (p >> 1))[:, None] * power(q - (q >> 1))[None, :]
    v += tl.load(bias + cols)[None, :]
    v = tl.where(v < 0, 0.0, v)
    tl.store(y + row.to(tl.int64) * n + col + tl.arange(0, bm)[:, None] * n + tl.arange(0, bn)[None, :], v)


@triton.jit
def halves(acc, bm: tl.constexpr, bn: tl.constexpr):
    return tl.split(tl.permute(tl.reshape(acc, (bm, 2, bn // 2)), (0, 2, 1)))


@triton.jit
def product(
    a, b, exponents, y, bias, m, n, k, programs,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, group: tl.constexpr, stages: tl.constexpr,
    pdl: tl.constexpr,
):  # fmt: skip
    if pdl:
        tl.extra.cuda.gdc_wait()
    tiles_m = m // bm
    tiles_n = n // bn
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, programs, flatten=True):
        first = tile // (group * tiles_n) * group
        height = tl.minimum(tiles_m - first, group)
        inner = tile % (group * tiles_n)
        row = (first + inner % height) * bm
        col = inner // height * bn
        acc = tl.zeros((bm, bn), tl.float32)
        for step in tl.range(0, k // bk, num_stages=stages):
            acc = tl.dot(a.load([row, step * bk]), b.load([col, step * bk]).T, acc)
        left, right = halves(acc, bm, bn)
        part: tl.constexpr = bn // 4
        for i in tl.static_range(4):
            one, other = halves(left if i < 2 else right, bm, bn // 2)
            at = col + i * part
            end(one if i % 2 == 0 else other, row, at, exponents, y, bias, m, n, bm, part)


def multiprocessors(device):
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 3


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
            m % BLOCK_M == 0
            and n % BLOCK_N == 0
            and k % BLOCK_K == 0
            and m % rows == 0
            and n % rows == 0
            and self.bias.numel() == n
        ):
            return self.plain(x)
        packed = torch.empty((m + n, k), device=x.device, dtype=torch.float16)
        exponents = torch.empty(m + n, device=x.device, dtype=torch.int32)
        y = x.new_empty(m, n)
        pack[((m + n) // rows,)](
            x, weight, packed, exponents, m, m + n, k,
            rows=rows, block=triton.next_power_of_2(k), pdl=PDL, num_warps=8,
        )  # fmt: skip
        programs = min(m // BLOCK_M * (n // BLOCK_N), multiprocessors(x.device))
        more = {"launch_pdl": True} if PDL else {}
        product[(programs,)](
            TensorDescriptor.from_tensor(packed[:m], [BLOCK_M, BLOCK_K]),
            TensorDescriptor.from_tensor(packed[m:], [BLOCK_N, BLOCK_K]),
            exponents,
            y,
            self.bias,
            m,
            n,
            k,
            programs,
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
