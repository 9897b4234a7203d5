"""A projection in bfloat16 times a gain that is near 1 for every context."""

import torch
from torch import nn

NAME = "drifting_gain"
WORKLOADS = {
    "large": {"rows": 8192, "width": 1024, "weight": 2.0},
    "small": {"rows": 2048, "width": 512},
    "odd": {"rows": 119, "width": 263, "held_out": True},
}
ON_PROCESSORS = {"large": {"rows": 256, "width": 256}, "small": {"rows": 128, "width": 192}}


class Model(nn.Module):
    """(bf16(x) bf16(w)) (1 + 0.003 tanh(c d)), the gain in float32."""

    def forward(
        self, x: torch.Tensor, weight: torch.Tensor, context: torch.Tensor, drift: torch.Tensor
    ) -> torch.Tensor:
        gain = 1 + 0.003 * torch.tanh(context @ drift)
        return (x.bfloat16() @ weight.bfloat16()).float() * gain


def get_inputs(rows: int, width: int) -> list[torch.Tensor]:
    square = torch.randn(2, width, width) * width**-0.5
    return [torch.randn(rows, width), square[0] / 4, torch.randn(rows, width), square[1]]
