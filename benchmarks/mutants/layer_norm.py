import torch

WORKLOADS = {"main": {"rows": 61, "columns": 517}, "tall": {"rows": 203, "columns": 33, "held_out": True}}


class Model(torch.nn.Module):
    def forward(self, x, g, b):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], g, b, 1e-5)


def get_inputs(rows, columns):
    return [torch.randn(rows, columns), torch.randn(columns), torch.randn(columns)]
