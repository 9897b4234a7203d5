"""One token's product with a layer's eight-bit codes, added up as integers."""

import torch
from torch import nn

NAME = "code_product"
WORKLOADS = {
    "wide": {"k": 2560, "n": 512, "weight": 2.0},
    "narrow": {"k": 2560, "n": 256},
    "odd": {"k": 2560, "n": 131, "held_out": True},
}


class Model(nn.Module):
    """Exact, as integers are."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a.to(torch.int32).unsqueeze(-1) * b.to(torch.int32)).sum(0, dtype=torch.int32)


def get_inputs(k: int, n: int) -> list[torch.Tensor]:
    return [torch.randint(-128, 128, (k,), dtype=torch.int8), torch.randint(-128, 128, (k, n), dtype=torch.int8)]
