"""Linear, GELU, softmax: rows of x and of the weight as float16, one cuBLAS product, one kernel behind.

A row is scaled by a power of two and rounded to the ten bits of mantissa that TF32 has, so that the product runs at
twice the speed of TF32 with its accuracy. Its 33 MB stay in the L2 cache for the kernel that does the rest.
"""

import torch
import triton
import triton.language as tl

PACK_WARPS = 8
WARPS = 8

KNOBS = {"PACK_WARPS": [4, 8, 16], "WARPS": [4, 8, 16]}


@triton.jit
def power(exponent):
    return ((exponent + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def pack(x, weight, packed, exponents, m, total, k, rows: tl.constexpr, block: tl.constexpr):
    """Rows of x, then of the weight; the last ones first, so that x and the first weights are left in the cache."""
    first = total - (tl.program_id(0) + 1) * rows
    if first < m:  # noqa: SIM108
        source = x + first.to(tl.int64) * k
    else:
        source = weight + (first - m).to(tl.int64) * k
    row = tl.arange(0, rows)
    at = tl.arange(0, block)
    inside = (at < k)[None, :]
    value = tl.load(source + row[:, None] * k + at[None, :], mask=inside, other=0.0, eviction_policy="evict_first")
    largest = tl.max(tl.abs(value), 1)
    exponent = tl.maximum((largest.to(tl.int32, bitcast=True) >> 23) - 127, -100)
    value *= power(14 - exponent)[:, None]
    tl.store(packed + first.to(tl.int64) * k + row[:, None] * k + at[None, :], value.to(tl.float16), mask=inside)
    tl.store(exponents + first + row, exponent - 14)


@triton.jit
def finish(sums, exponents, y, bias, m, n, block: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, block)
    at = row.to(tl.int64) * n + cols
    total = tl.load(exponents + row) + tl.load(exponents + m + cols)
    v = tl.load(sums + at)
    v = (v * power(total >> 1) * power(total - (total >> 1)))[None, :]
    v += tl.load(bias + cols)[None, :]
    v = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    v = tl.exp(v - tl.max(v, 1)[:, None])
    tl.store(y + at[None, :], v * (1.0 / tl.sum(v, 1))[:, None])


def product(a, b):
    return torch.mm(a, b, out_dtype=torch.float32) if a.is_cuda else torch.mm(a.float(), b.float())


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
        block = triton.next_power_of_2(k)
        rows = max(1, 8192 // block)  # packed by one program
        if not (n == triton.next_power_of_2(n) and k % 8 == 0 and m % rows == 0 and n % rows == 0):
            return self.plain(x)
        packed = torch.empty((m + n, k), device=x.device, dtype=torch.float16)
        exponents = torch.empty(m + n, device=x.device, dtype=torch.int32)
        pack[((m + n) // rows,)](
            x, weight, packed, exponents, m, m + n, k, rows=rows, block=block, num_warps=PACK_WARPS
        )
        y = product(packed[:m], packed[m:].T)
        finish[(m,)](y, exponents, y, self.linear.bias, m, n, block=n, num_warps=WARPS)
        return y
