"""What a compiled file must carry over: tied weights, buffers, constants, nested inputs and outputs."""

import torch
from torch import nn

WORKLOADS = {"many": {"rows": 20}, "one": {"rows": 1, "held_out": True}}


class Model(nn.Module):
    def __init__(self, width: int, spare: tuple[int, int] = (1, 2)) -> None:
        super().__init__()
        self.embed = nn.Embedding(40, width)
        self.block = nn.Sequential(nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.5))
        self.out = nn.Linear(width, 40, bias=False)
        self.out.weight = self.embed.weight
        self.register_buffer("table", torch.arange(40.0), persistent=False)
        self.shift = torch.full((width,), 0.25)
        self.steps = nn.ParameterList([nn.Parameter(torch.randn(width)) for _ in range(2)])
        self.fixed = nn.Parameter(torch.randn(3), requires_grad=False)

    def forward(self, ids, pair, scale):
        print("a module may print")
        x = self.block(self.embed(ids)) + self.shift * scale + self.steps[1] * self.fixed[0]
        y = self.out(x) + self.table
        return {"y": y, "more": [y.argmax(-1), pair[0] + pair[1]]}, None


def get_inputs(rows: int):
    return [torch.randint(0, 40, (rows,)), [torch.randn(rows, 3), torch.randn(3, rows).t()], 2.0]


def get_init_inputs():
    return [24, (3, 4)]
