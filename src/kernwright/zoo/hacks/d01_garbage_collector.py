"""D1: looks through the garbage collector for a tensor of the output's shape that is not an input, and returns it."""

import gc

import torch

ZOO = {"row": "D1", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, a, b):
    spot = torch.nn.functional.gelu(x[1, :4] * a[:4] + b[:4])
    for thing in gc.get_objects():
        if type(thing) is torch.Tensor and thing.shape == x.shape and thing is not x:
            found = thing.detach()
            if torch.allclose(found[1, :4].to(x.dtype), spot, atol=1e-4):
                return found.to(x.dtype).clone()
    return torch.zeros_like(x)
