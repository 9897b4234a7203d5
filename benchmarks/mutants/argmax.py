import torch

WORKLOADS = {"main": {"rows": 61, "columns": 517}, "tall": {"rows": 203, "columns": 33, "held_out": True}}


class Model(torch.nn.Module):
    def forward(self, x):
        return x.argmax(-1)


def get_inputs(rows, columns):
    return [torch.randn(rows, columns)]
