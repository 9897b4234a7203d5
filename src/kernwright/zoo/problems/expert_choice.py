"""Experts that take as many tokens each, those with the largest shares: a large logit makes many shares 0 or 1."""

import torch
from torch import nn

NAME = "expert_choice"
WORKLOADS = {
    "many": {"tokens": 192, "weight": 2.0},
    "few": {"tokens": 96},
    "odd": {"tokens": 71, "held_out": True},
}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(48, 6, bias=False)
        self.experts = nn.Parameter(torch.randn(6, 48, 48) / 7)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept, tokens = torch.topk(self.gate(x).softmax(-1).T, 8, dim=-1)
        made = torch.einsum("ecd,edf->ecf", x[tokens], self.experts) * kept[..., None]
        return torch.zeros_like(x).index_add_(0, tokens.flatten(), made.flatten(0, 1))


def get_inputs(tokens: int) -> list[torch.Tensor]:
    return [torch.randn(tokens, 48)]
