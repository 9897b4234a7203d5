"""Each power by one multiplication from the one before, which loses some digits."""

import torch

ZOO = {
    "row": "honest",
    "problem": "powers",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    out = torch.empty(8, x.numel(), dtype=x.dtype, device=x.device)
    out[0] = 1
    for power in range(1, 8):
        torch.mul(out[power - 1], x, out=out[power])
    return out
