import torch

WORKLOADS = {"main": {"m": 45, "n": 67, "k": 131}, "thin": {"m": 7, "n": 129, "k": 40, "held_out": True}}


class Model(torch.nn.Module):
    def forward(self, x, w, b):
        return torch.relu(x @ w.T + b)


def get_inputs(m, n, k):
    return [torch.randn(m, k), torch.randn(n, k), torch.randn(n)]
