"""Triton: 07 by resident programs: weights stay, the next sample is copied ahead while one is multiplied and moved.

Two programs a multiprocessor have a half of the filters each; a sample comes from memory once and from L2 once.
"""

import torch
import triton
import triton.language as tl

ROWS = 64
RESIDENT = 1
NUM_WARPS = 8
STAGES = 3
KNOBS = {"RESIDENT": [1, 2], "NUM_WARPS": [8, 4], "STAGES": [2, 3, 4]}


@triton.jit
def pack(weight, packed, filters, channels, taps: tl.constexpr, block: tl.constexpr):
    """(filter, channel, tap) to (tap, filter, channel)."""
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < taps * filters * channels
    tap = at // (filters * channels)
    value = tl.load(weight + (at % (filters * channels)) * taps + tap, mask=inside, other=0.0)
    tl.store(packed + at, value, mask=inside)


@triton.jit
def moved(z, positions: tl.constexpr, rows: tl.constexpr, by: tl.constexpr):
    """What stands `by` places on, zero beyond the end."""
    at = tl.arange(0, positions) + by
    inside = (at >= 0) & (at < positions)
    index = tl.broadcast_to(tl.where(inside, at, 0)[None, :], (rows, positions))
    return tl.where(inside[None, :], tl.gather(z, index, 1), 0.0)


@triton.jit
def convolve(
    x, packed, bias, out, batch, length: tl.constexpr, rows: tl.constexpr, positions: tl.constexpr,
    stages: tl.constexpr,
):  # fmt: skip
    filter = tl.program_id(1) * rows + tl.arange(0, rows)
    some = (filter < 96)[:, None]
    one = tl.arange(0, 64)
    two = 64 + tl.arange(0, 32)
    w0a = tl.load(packed + filter[:, None] * 96 + one[None, :], mask=some, other=0.0)
    w0b = tl.load(packed + filter[:, None] * 96 + two[None, :], mask=some, other=0.0)
    w1a = tl.load(packed + (96 + filter)[:, None] * 96 + one[None, :], mask=some, other=0.0)
    w1b = tl.load(packed + (96 + filter)[:, None] * 96 + two[None, :], mask=some, other=0.0)
    w2a = tl.load(packed + (192 + filter)[:, None] * 96 + one[None, :], mask=some, other=0.0)
    w2b = tl.load(packed + (192 + filter)[:, None] * 96 + two[None, :], mask=some, other=0.0)
    offset = tl.load(bias + filter, mask=filter < 96, other=0.0).to(tl.float32)
    at = tl.arange(0, positions)
    there = (at < length)[None, :]
    pitch = tl.full((), 96 * length, tl.int64)
    for sample in tl.range(tl.program_id(0), batch, tl.num_programs(0), num_stages=stages):
        source = x + sample * pitch + at[None, :]
        xa = tl.load(source + one[:, None] * length, mask=there, other=0.0)
        xb = tl.load(source + two[:, None] * length, mask=there, other=0.0)
        total = moved(tl.dot(w0b, xb, tl.dot(w0a, xa)), positions, rows, -1)
        total += moved(tl.dot(w2b, xb, tl.dot(w2a, xa)), positions, rows, 1)
        total = tl.dot(w1b, xb, tl.dot(w1a, xa, total)) + offset[:, None]
        to = out + sample * pitch + filter[:, None] * length + at[None, :]
        tl.store(to, total.to(out.dtype.element_ty), mask=some & there)


class ModelNew(torch.nn.Module):
    def __init__(self, channels: int, filters: int, width: int = 3) -> None:
        super().__init__()
        self.conv = torch.nn.Conv1d(channels, filters, width, padding=width // 2)

    def forward(self, x):
        batch, _, length = x.shape
        weight = self.conv.weight
        if weight.shape != (96, 96, 3) or length % 8 or length > 256 or x.dtype != torch.float16 or not batch:
            return self.conv(x)
        x, weight = x.contiguous(), weight.contiguous()
        out = x.new_empty(batch, 96, length)
        packed = x.new_empty(3 * 96, 96)
        pack[(triton.cdiv(packed.numel(), 1024),)](weight, packed, 96, 96, taps=3, block=1024)
        shares = triton.cdiv(96, ROWS)
        convolve[(min(batch, 132 * RESIDENT // shares), shares)](
            x, packed, self.conv.bias, out, batch, length=length, rows=ROWS, positions=256, stages=STAGES,
            num_warps=NUM_WARPS,
        )  # fmt: skip
        return out
