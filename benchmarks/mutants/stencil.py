import torch

WORKLOADS = {"main": {"channels": 19, "length": 801}, "short": {"channels": 40, "length": 35, "held_out": True}}


class Model(torch.nn.Module):
    def forward(self, x, w):
        return torch.nn.functional.conv1d(x[:, None], w[None, None], padding=3)[:, 0]


def get_inputs(channels, length):
    return [torch.randn(channels, length), torch.randn(7)]
