"""Causal convolution as four shifted loads of one block: all but the first come from the cache."""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [256, 512, 1024, 2048], "WARPS": [2, 4, 8]}
BLOCK = 1024
WARPS = 4


@triton.jit
def conv_silu(x_ptr, weight_ptr, bias_ptr, y_ptr, channels, length, block: tl.constexpr):
    line = tl.program_id(1).to(tl.int64)
    channel = line % channels
    at = tl.program_id(0) * block + tl.arange(0, block)
    sums = tl.zeros((block,), tl.float32) + tl.load(bias_ptr + channel)
    for tap in tl.static_range(4):
        source = at + tap - 3
        x = tl.load(x_ptr + line * length + source, mask=(source >= 0) & (source < length), other=0.0)
        sums += tl.load(weight_ptr + channel * 4 + tap) * x
    tl.store(y_ptr + line * length + at, sums * tl.sigmoid(sums), mask=at < length)


class ModelNew(torch.nn.Module):
    """silu(conv(x)), causal, four taps."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = torch.nn.Conv1d(channels, channels, kernel_size=4, padding=3, groups=channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        batch, channels, length = x.shape
        grid = (triton.cdiv(length, BLOCK), batch * channels)
        conv_silu[grid](x, self.conv.weight, self.conv.bias, y, channels, length, block=BLOCK, num_warps=WARPS)
        return y
