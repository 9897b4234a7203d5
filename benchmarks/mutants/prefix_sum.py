import torch

WORKLOADS = {"main": {"rows": 61, "columns": 517}, "tall": {"rows": 203, "columns": 33, "held_out": True}}


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.cumsum(x, dim=1)


def get_inputs(rows, columns):
    return [torch.randn(rows, columns)]
