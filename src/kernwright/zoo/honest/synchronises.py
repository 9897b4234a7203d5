"""Waits for the device in the middle of a call, and again at its end."""

import torch

ZOO = {"row": "honest", "problem": "gelu", "platforms": ["cuda"], "rules": {}, "expect": ["measured", "verified"]}


def kernel(x, a, b):
    y = x * a + b
    torch.cuda.synchronize()
    y = torch.nn.functional.gelu(y)
    torch.cuda.current_stream().synchronize()
    return y
