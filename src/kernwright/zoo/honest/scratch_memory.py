"""Takes and frees 64 MiB of scratch in every call."""

import torch

ZOO = {
    "row": "honest",
    "problem": "cumsum",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    scratch = torch.empty(64 << 20, dtype=torch.uint8, device=x.device)
    scratch[::4096] = 1
    wide = scratch[: x.numel() * 8].view(torch.float64).view(x.shape)
    torch.cumsum(x, dim=-1, dtype=torch.float64, out=wide)
    return wide.float()
