import torch

WORKLOADS = {
    "main": {"channels": 9, "height": 37, "width": 43},
    "other": {"channels": 3, "height": 52, "width": 21, "held_out": True},
}


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.max_pool2d(x, 3, stride=2, padding=1)


def get_inputs(channels, height, width):
    return [torch.randn(channels, height, width)]
