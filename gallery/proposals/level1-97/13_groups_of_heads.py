"""07 for groups of heads: what is packed of a group is a fourth of all, and the next group takes the same memory.

Packed keys, values and shares of 1024 heads are 7 GB; of GROUPS-th parts of them fewer lines are dirty at a time, the
allocator has less to give, and a group's last kernel overlaps with nothing of the next: tells what size costs.
"""

import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

STAGES = 3
CHUNK = 512
QUERIES = 64
STEP = 32
GROUPS = 4
WARPS = 4

KNOBS = {
    "GROUPS": [4, 2, 8],
    "STAGES": [2, 3],
    "QUERIES": [64, 128],
    "STEP": [32, 64],
    "CHUNK": [256, 512, 1024],
    "WARPS": [2, 4, 8],
}

BLOCK, BLOCK_K = 128, 64


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
def _pack(x, packed, exponents, length, k, pitch, step, block: tl.constexpr):
    """A row as large and small parts, `step` apart: heads are `2 * length * k` apart in `packed`, rows `pitch`."""
    number = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, block)
    value = tl.load(x + number * k + at, mask=at < k, other=0.0)
    exponent = _exponent(tl.max(tl.abs(value), 0))
    to = packed + number // length * (2 * length * k) + number % length * pitch + at
    _store_parts(value * _power(14 - exponent), to, to + step, at < k)
    tl.store(exponents + number, exponent - 14)


@triton.jit
def _scaled(total, p, exponents, scale):
    o = tl.load(exponents)
    total *= _power(p >> 1)[:, None] * _power(o >> 1)[None, :]
    total *= _power(p - (p >> 1))[:, None] * _power(o - (o >> 1))[None, :]
    return total * scale


@triton.jit
def _shares(
    q, k, v_exponents, row_exponents, key_exponents, packed, exponents, rows, keys, width, scale,
    bm: tl.constexpr, box: tl.constexpr, two_boxes: tl.constexpr, bk: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    """All scores of a few queries, their softmax, and its shares as large and small parts."""
    head = tl.program_id(1)
    row = tl.program_id(0) * bm
    one = tl.zeros((bm, box), tl.float32)
    two = tl.zeros((bm, box), tl.float32)
    for at in tl.range(0, 2 * width, bk, num_stages=stages):  # small times large, then large times small
        second = at >= width
        x_at = tl.where(second, at - width, at + width)
        x = q.load([head * rows + row, x_at])
        one = tl.dot(x, k.load([head * keys, at]).T, one)
        if two_boxes:
            two = tl.dot(x, k.load([head * keys + box, at]).T, two)
    one *= 1.0 / 2048.0
    two *= 1.0 / 2048.0
    for at in tl.range(0, width, bk, num_stages=stages):
        x = q.load([head * rows + row, at])
        one = tl.dot(x, k.load([head * keys, at]).T, one)
        if two_boxes:
            two = tl.dot(x, k.load([head * keys + box, at]).T, two)
    number = head.to(tl.int64) * rows + row + tl.arange(0, bm)
    key = tl.arange(0, box)
    p = tl.load(row_exponents + number)
    p = tl.minimum(tl.maximum(p, -250), 250)
    one = _scaled(one, p, key_exponents + head * keys + key, scale)
    most = tl.max(one, 1)
    if two_boxes:
        two = _scaled(two, p, key_exponents + head * keys + box + key, scale)
        most = tl.maximum(most, tl.max(two, 1))
    one = tl.exp(one - most[:, None])
    whole = tl.sum(one, 1)
    powers = tl.load(v_exponents + head * keys + key)
    top = tl.max(powers, 0)
    more = powers
    if two_boxes:
        two = tl.exp(two - most[:, None])
        whole += tl.sum(two, 1)
        more = tl.load(v_exponents + head * keys + box + key)
        top = tl.maximum(top, tl.max(more, 0))
    one = one / whole[:, None] * _power(tl.maximum(powers - top, -126))[None, :]
    largest = tl.max(one, 1)
    if two_boxes:
        two = two / whole[:, None] * _power(tl.maximum(more - top, -126))[None, :]
        largest = tl.maximum(largest, tl.max(two, 1))
    exponent = _exponent(largest)
    factor = _power(14 - exponent)[:, None]
    to = packed + number[:, None] * (2 * keys) + key[None, :]
    _store_parts(one * factor, to, to + keys, None)
    if two_boxes:
        _store_parts(two * factor, to + box, to + keys + box, None)
    tl.store(exponents + number, exponent - 14 + top)


@triton.jit
def _product(
    a, b, row_exponents, col_exponents, c, m, n, k, b_rows, scale,
    turned: tl.constexpr, block: tl.constexpr, bk: tl.constexpr, chunk: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    """Of each head: rows of A are large | small; those of B too if `turned`, else its small rows follow the large."""
    head = tl.program_id(1)
    tiles = tl.cdiv(n, block)
    row = tl.program_id(0) // tiles * block
    col = tl.program_id(0) % tiles * block
    total = tl.zeros((block, block), tl.float32)
    small = tl.zeros((block, block), tl.float32)
    for start in tl.range(0, k, chunk):
        large = tl.zeros((block, block), tl.float32)
        for at in tl.range(start, tl.minimum(start + chunk, k), bk, num_stages=stages):
            x = a.load([head * m + row, at])
            x_small = a.load([head * m + row, k + at])
            y = b.load([head * b_rows + col, at]).T if turned else b.load([head * b_rows + at, col])
            y_small = b.load([head * b_rows + col, k + at]).T if turned else b.load([head * b_rows + k + at, col])
            large = tl.dot(x, y, large)
            small = tl.dot(x_small, y, small)
            small = tl.dot(x, y_small, small)
        total += large
    total += small * (1.0 / 2048.0)
    rows = row + tl.arange(0, block)
    cols = col + tl.arange(0, block)
    p = tl.load(row_exponents + head * m + rows, mask=rows < m, other=0)
    p = tl.minimum(tl.maximum(p, -250), 250)
    if turned:
        q = tl.load(col_exponents + head * n + cols, mask=cols < n, other=0)
        total *= _power(p >> 1)[:, None] * _power(q >> 1)[None, :]
        total *= _power(p - (p >> 1))[:, None] * _power(q - (q >> 1))[None, :]
        total *= scale
    else:
        total = total * _power(p >> 1)[:, None] * _power(p - (p >> 1))[:, None]
    inside = (rows < m)[:, None] & (cols < n)[None, :]
    tl.store(c + (head.to(tl.int64) * m + rows)[:, None] * n + cols[None, :], total, mask=inside)


def attend(q, k, v, o):
    heads, length, width = q.shape[0] * q.shape[1], q.shape[2], q.shape[3]
    half = {"device": q.device, "dtype": torch.float16}
    rows, keys = torch.empty((heads * length, 2 * width), **half), torch.empty((heads * length, 2 * width), **half)
    values = torch.empty((heads * 2 * length, width), **half)
    shares = torch.empty((heads * length, 2 * length), **half)
    exponents = torch.empty((4, heads * length), device=q.device, dtype=torch.int32)
    block = triton.next_power_of_2(width)
    grid = (heads * length,)
    _pack[grid](q, rows, exponents[0], length, width, 2 * width, width, block=block, num_warps=WARPS)
    _pack[grid](k, keys, exponents[1], length, width, 2 * width, width, block=block, num_warps=WARPS)
    _pack[grid](v, values, exponents[2], length, width, width, length * width, block=block, num_warps=WARPS)
    sizes = {"block": BLOCK, "bk": BLOCK_K, "chunk": CHUNK, "stages": STAGES, "num_warps": 8}
    _shares[(length // QUERIES, heads)](
        TensorDescriptor.from_tensor(rows, [QUERIES, STEP]),
        TensorDescriptor.from_tensor(keys, [min(length, 256), STEP]),
        exponents[2], exponents[0], exponents[1], shares, exponents[3], length, length, width, 1 / math.sqrt(width),
        bm=QUERIES, box=min(length, 256), two_boxes=length > 256, bk=STEP, stages=STAGES, num_warps=8,
    )  # fmt: skip
    _product[(length // BLOCK * (width // BLOCK), heads)](
        TensorDescriptor.from_tensor(shares, [BLOCK, BLOCK_K]),
        TensorDescriptor.from_tensor(values, [BLOCK_K, BLOCK]),
        exponents[3], exponents[3], o, length, width, length, 2 * length, 1.0, turned=False, **sizes,
    )  # fmt: skip


class ModelNew(torch.nn.Module):
    def forward(self, q, k, v):
        fits = (
            q.dim() == 4 and q.shape == k.shape == v.shape and q.shape[2] % BLOCK == 0 and q.shape[2] in (128, 256, 512)
        )
        if not fits or q.shape[3] % BLOCK or not q.dtype == k.dtype == v.dtype == torch.float32:
            return torch.nn.functional.scaled_dot_product_attention(q, k, v)
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        o = torch.empty_like(q)
        heads = q.shape[0] * q.shape[1]
        groups = GROUPS if heads % GROUPS == 0 else 1
        shape = (1, heads // groups, q.shape[2], q.shape[3])
        parts = [x.view(groups, *shape).unbind(0) for x in (q, k, v, o)]
        for q_part, k_part, v_part, o_part in zip(*parts, strict=True):
            attend(q_part, k_part, v_part, o_part)
        return o
