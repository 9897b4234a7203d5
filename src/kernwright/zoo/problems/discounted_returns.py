"""Returns from the first step on, with a discount of each environment's own."""

import torch
from torch import nn

NAME = "discounted_returns"
WORKLOADS = {
    "many": {"runs": 512, "steps": 4096, "weight": 2.0},
    "few": {"runs": 256, "steps": 4096},
    "odd": {"runs": 13, "steps": 3001, "held_out": True},
}
ON_PROCESSORS = {"many": {"runs": 64, "steps": 4096}, "few": {"runs": 32, "steps": 4096}}


class Model(nn.Module):
    def forward(self, rewards: torch.Tensor, discount: torch.Tensor) -> torch.Tensor:
        steps = torch.arange(rewards.shape[1], device=rewards.device)
        return (rewards * discount[:, None] ** steps).sum(1)


def get_inputs(runs: int, steps: int) -> list[torch.Tensor]:
    return [torch.randn(runs, steps), 0.5 + 0.4 * torch.rand(runs)]
