"""Triton: 06 done right: boxes of the copy engine start where a sample's rows start, and products are moved instead.

06 asked for boxes that start at odd positions, 2 bytes beside what the engine takes (16; the interpreter's assertion
was right), so the device stopped it (an illegal instruction). Here a box is a whole sample's channels, zeros behind
its end; as 07 otherwise.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

ROWS = 64
NUM_WARPS = 8
KNOBS = {"ROWS": [64, 32, 128], "NUM_WARPS": [8, 4]}


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
def convolve(x, x_rest, packed, bias, out, length: tl.constexpr, rows: tl.constexpr, positions: tl.constexpr):
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
    sample = tl.program_id(0)
    at = tl.arange(0, positions)
    xa = x.load([sample * 96, 0])
    xb = x_rest.load([sample * 96 + 64, 0])
    total = moved(tl.dot(w0b, xb, tl.dot(w0a, xa)), positions, rows, -1)
    total += moved(tl.dot(w2b, xb, tl.dot(w2a, xa)), positions, rows, 1)
    total = tl.dot(w1b, xb, tl.dot(w1a, xa, total)) + offset[:, None]
    to = out + sample.to(tl.int64) * (96 * length) + filter[:, None] * length + at[None, :]
    tl.store(to, total.to(out.dtype.element_ty), mask=some & (at < length)[None, :])


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
        if x.data_ptr() % 16:
            return self.conv(x)
        source = x.view(batch * 96, length)
        convolve[(batch, triton.cdiv(96, ROWS))](
            TensorDescriptor.from_tensor(source, [64, 256]),
            TensorDescriptor.from_tensor(source, [32, 256]),
            packed, self.conv.bias, out, length=length, rows=ROWS, positions=256, num_warps=NUM_WARPS,
        )  # fmt: skip
        return out
