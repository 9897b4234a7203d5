"""Linear, scaling, residual: one float16 product by cuBLAS, CHUNK rows at a time, so that sums stay in the L2 cache.

A float16 has TF32's ten bits of mantissa and twice its speed. Rows of x and of the weight are scaled by powers of two
and packed once; a chunk's sums (34 MB of float32 at 2048 rows) are read by the kernel that does the rest before they
leave the cache.
"""

import torch
import triton
import triton.language as tl

CHUNK = 2048
WARPS = 8
BLOCK = 2048

KNOBS = {"CHUNK": [2048, 4096, 16384], "WARPS": [8, 4], "BLOCK": [2048, 4096]}


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
def pack(x, weight, packed, exponents, m, total, k, rows: tl.constexpr, block: tl.constexpr):
    """Rows of x, then of the weight, scaled, as float16; the first rows last, to be in the L2 cache."""
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
def finish(sums, exponents, y, bias, factor, first, m, n, block: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * block + tl.arange(0, block)
    at = row.to(tl.int64) * n + cols
    total = tl.load(exponents + first + row) + tl.load(exponents + m + cols)
    v = tl.load(sums + at) * power(total >> 1) * power(total - (total >> 1)) + tl.load(bias + cols)
    tl.store(y + (first + row).to(tl.int64) * n + cols, v * factor + v)


def product(a, b):
    return torch.mm(a, b, out_dtype=torch.float32) if a.is_cuda else a.float() @ b.float()


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
        weight = self.matmul.weight
        if x.dim() != 2 or x.dtype != torch.float32 or not weight.is_contiguous():
            return self.plain(x)
        x = x.contiguous()
        (m, k), n = x.shape, weight.shape[0]
        rows = max(1, 8192 // triton.next_power_of_2(k))  # packed by one program
        if not (n % BLOCK == 0 and k % 8 == 0 and m % rows == 0 and n % rows == 0):
            return self.plain(x)
        packed = torch.empty((m + n, k), device=x.device, dtype=torch.float16)
        exponents = torch.empty(m + n, device=x.device, dtype=torch.int32)
        pack[((m + n) // rows,)](
            x, weight, packed, exponents, m, m + n, k, rows=rows, block=triton.next_power_of_2(k), num_warps=8
        )
        right = packed[m:]
        y = x.new_empty(m, n)
        for first in range(0, m, CHUNK):
            left = packed[first : min(first + CHUNK, m)]
            finish[(left.shape[0], n // BLOCK)](
                product(left, right.T), exponents, y, self.matmul.bias, self.scaling_factor, first, m, n,
                block=BLOCK, num_warps=WARPS,
            )  # fmt: skip
        return y
