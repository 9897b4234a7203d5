import torch

WORKLOADS = {"main": {"n": 30011}, "short": {"n": 1021, "held_out": True}}


class Model(torch.nn.Module):
    def forward(self, x, y):
        return (x * y).sum()


def get_inputs(n):
    return [torch.randn(n), torch.randn(n)]
