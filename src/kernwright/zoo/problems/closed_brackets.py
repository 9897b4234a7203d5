"""How many brackets of each text, of two kinds, are closed by their own; another one ends all that are open."""

import torch
from torch import nn

NAME = "closed_brackets"
WORKLOADS = {
    "many": {"rows": 256, "length": 48, "weight": 2.0},
    "few": {"rows": 64, "length": 48},
    "odd": {"rows": 37, "length": 45, "held_out": True},
}
ON_PROCESSORS = {"many": {"rows": 64}, "few": {"rows": 32}}


class Model(nn.Module):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        rows, length = tokens.shape
        is_open = torch.zeros(rows, length + 1, dtype=torch.int64, device=tokens.device)
        depth = torch.zeros_like(tokens[:, 0])
        closed = torch.zeros_like(depth)
        for token in tokens.unbind(1):
            opens = token < 2
            last = is_open.gather(1, (depth - 1).clamp(min=0)[:, None])[:, 0]
            closes = ~opens & (depth > 0) & (last == token - 2)
            is_open = is_open.scatter(1, depth[:, None], token[:, None])
            depth = torch.where(opens, depth + 1, torch.where(closes, depth - 1, 0))
            closed = closed + closes
        return closed


def get_inputs(rows: int, length: int) -> list[torch.Tensor]:
    return [torch.randint(0, 4, (rows, length))]
