"""Triton: the copy engine shifts: a tap is a box of the sample that starts one position earlier or later.

Descriptors may start anywhere and give zeros outside, so that padding needs no masks and shared memory is aligned for
warp-group products; only the first of three boxes comes from memory, the others from L2. Results leave as boxes too.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

POSITIONS = 256
DEPTH = 32
NUM_WARPS = 8
STAGES = 3
KNOBS = {"POSITIONS": [64, 128, 256], "DEPTH": [16, 32], "NUM_WARPS": [4, 8], "STAGES": [3, 4, 6]}


@triton.jit
def pack(weight, packed, filters, channels, taps: tl.constexpr, block: tl.constexpr):
    """(filter, channel, tap) to (tap, filter, channel)."""
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < taps * filters * channels
    tap = at // (filters * channels)
    value = tl.load(weight + (at % (filters * channels)) * taps + tap, mask=inside, other=0.0)
    tl.store(packed + at, value, mask=inside)


@triton.jit
def convolve(
    x, packed_one, packed_two, bias, out_one, out_two,
    channels: tl.constexpr, filters: tl.constexpr, taps: tl.constexpr, positions: tl.constexpr, depth: tl.constexpr,
    one: tl.constexpr, two: tl.constexpr, stages: tl.constexpr,
):  # fmt: skip
    sample = tl.program_id(1)
    start = tl.program_id(0) * positions
    left = tl.zeros([positions, one], tl.float32)
    right = tl.zeros([positions, two], tl.float32)
    for step in tl.range(0, channels // depth * taps, num_stages=stages):
        channel = step // taps * depth
        tap = step % taps
        value = tl.trans(x.load([sample * channels + channel, start + tap - taps // 2]))
        left = tl.dot(value, tl.trans(packed_one.load([tap * filters, channel])), left)
        right = tl.dot(value, tl.trans(packed_two.load([tap * filters + one, channel])), right)
    left += tl.load(bias + tl.arange(0, one)).to(tl.float32)[None, :]
    right += tl.load(bias + one + tl.arange(0, two)).to(tl.float32)[None, :]
    out_one.store([sample * filters, start], tl.trans(left).to(tl.float16))
    out_two.store([sample * filters + one, start], tl.trans(right).to(tl.float16))


class ModelNew(torch.nn.Module):
    def __init__(self, channels: int, filters: int, width: int = 3) -> None:
        super().__init__()
        self.conv = torch.nn.Conv1d(channels, filters, width, padding=width // 2)

    def forward(self, x):
        batch, channels, length = x.shape
        weight = self.conv.weight
        filters, _, taps = weight.shape
        if filters != 96 or channels % DEPTH or taps != 3 or length % 8 or x.dtype != torch.float16 or batch > 65535:
            return self.conv(x)
        x, weight = x.contiguous(), weight.contiguous()
        if x.data_ptr() % 16:
            return self.conv(x)
        out = x.new_empty(batch, filters, length)
        packed = x.new_empty(taps * filters, channels)
        pack[(triton.cdiv(packed.numel(), 1024),)](weight, packed, filters, channels, taps=taps, block=1024)
        source, target = x.view(batch * channels, length), out.view(batch * filters, length)
        convolve[(triton.cdiv(length, POSITIONS), batch)](
            TensorDescriptor.from_tensor(source, [DEPTH, POSITIONS]),
            TensorDescriptor.from_tensor(packed, [64, DEPTH]),
            TensorDescriptor.from_tensor(packed, [32, DEPTH]),
            self.conv.bias,
            TensorDescriptor.from_tensor(target, [64, POSITIONS]),
            TensorDescriptor.from_tensor(target, [32, POSITIONS]),
            channels=channels,
            filters=filters,
            taps=taps,
            positions=POSITIONS,
            depth=DEPTH,
            one=64,
            two=32,
            stages=STAGES,
            num_warps=NUM_WARPS,
        )
        return out
