"""LayerNorm that reads a row once and keeps it in registers: mean first, then squares of what differs from it."""

import torch
import triton
import triton.language as tl

KNOBS = {"ROWS": [1, 2, 4], "WARPS": [2, 4, 8, 16]}
ROWS = 1
WARPS = 4


@triton.jit
def layernorm_rows(x_ptr, weight_ptr, bias_ptr, y_ptr, rows, cols, epsilon, height: tl.constexpr, width: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * height + tl.arange(0, height)
    column = tl.arange(0, width)
    within = column < cols
    inside = (row[:, None] < rows) & within[None, :]
    at = row[:, None] * cols + column[None, :]
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    mean = tl.sum(x, 1) / cols
    away = tl.where(inside, x - mean[:, None], 0.0)  # what is masked must not count as far from the mean
    scale = tl.rsqrt(tl.sum(away * away, 1) / cols + epsilon)
    weight = tl.load(weight_ptr + column, mask=within, other=0.0)
    bias = tl.load(bias_ptr + column, mask=within, other=0.0)
    tl.store(y_ptr + at, away * scale[:, None] * weight[None, :] + bias[None, :], mask=inside)


class ModelNew(torch.nn.Module):
    """The norm under the reference's name, so that its parameters are copied here."""

    def __init__(self, cols: int) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(cols)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        cols = x.shape[-1]
        rows = x.numel() // cols
        width = triton.next_power_of_2(cols)
        height = ROWS if width <= 2048 else 1
        layernorm_rows[(triton.cdiv(rows, height),)](
            x, self.norm.weight, self.norm.bias, y, rows, cols, self.norm.eps, height=height, width=width,
            num_warps=WARPS,
        )  # fmt: skip
        return y
