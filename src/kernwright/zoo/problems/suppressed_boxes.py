"""Which boxes stay, where better ones that stay suppress those that overlap them."""

import torch
from torch import nn

NAME = "suppressed_boxes"
WORKLOADS = {
    "many": {"count": 256, "weight": 2.0},
    "few": {"count": 192},
    "odd": {"count": 111, "held_out": True},
}


class Model(nn.Module):
    def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        low, high = boxes[..., :2], boxes[..., :2] + boxes[..., 2:]
        common = torch.minimum(high[:, None], high[:, :, None]) - torch.maximum(low[:, None], low[:, :, None])
        both = common.clamp(min=0).prod(-1)
        area = boxes[..., 2:].prod(-1)
        beats = both > 0.3 * (area[:, None] + area[:, :, None] - both)
        beats &= scores[:, None] > scores[:, :, None]
        stays = torch.ones_like(scores, dtype=torch.bool)
        while True:
            before, stays = stays, ~(beats & stays[:, None]).any(-1)
            if torch.equal(before, stays):
                return stays


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.rand(8, count, 4) * torch.tensor([1.0, 1.0, 0.25, 0.25]), torch.rand(8, count)]
