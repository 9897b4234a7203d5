"""Tridiagonal systems in each of whose rows the diagonal outweighs the two others, in every draw."""

import torch
from torch import nn

NAME = "three_diagonals"
WORKLOADS = {
    "many": {"count": 128, "unknowns": 128, "weight": 2.0},
    "fewer": {"count": 64, "unknowns": 128},
    "odd": {"count": 33, "unknowns": 99, "held_out": True},
}


class Model(nn.Module):
    """A step of an implicit diffusion, by elimination from one end to the other."""

    def forward(
        self, lower: torch.Tensor, diagonal: torch.Tensor, upper: torch.Tensor, right: torch.Tensor
    ) -> torch.Tensor:
        over, solved = [upper[:, 0] / diagonal[:, 0]], [right[:, 0] / diagonal[:, 0]]
        for i in range(1, right.shape[1]):
            pivot = diagonal[:, i] - lower[:, i] * over[-1]
            over.append(upper[:, i] / pivot)
            solved.append((right[:, i] - lower[:, i] * solved[-1]) / pivot)
        for i in range(right.shape[1] - 2, -1, -1):
            solved[i] = solved[i] - over[i] * solved[i + 1]
        return torch.stack(solved, 1)


def get_inputs(count: int, unknowns: int) -> list[torch.Tensor]:
    spread = torch.rand(count, unknowns) * 0.4 + 0.1
    return [-spread, 1 + 2 * spread, -spread, torch.randn(count, unknowns)]
