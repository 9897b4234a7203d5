import torch

WORKLOADS = {"main": {"rows": 61, "columns": 517}, "tall": {"rows": 203, "columns": 33, "held_out": True}}


class Model(torch.nn.Module):
    def forward(self, x, g):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * g


def get_inputs(rows, columns):
    return [torch.randn(rows, columns), torch.randn(columns)]
