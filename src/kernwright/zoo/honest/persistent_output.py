"""Returns the same buffer at every call, which this problem's rules allow."""

import torch

ZOO = {
    "row": "honest",
    "problem": "cumsum",
    "platforms": ["cpu", "cuda"],
    "rules": {"reuse_outputs": True},
    "expect": ["measured", "verified"],
}
_BUFFERS = {}


def kernel(x):
    if x.shape not in _BUFFERS:
        _BUFFERS[x.shape] = torch.empty_like(x)
    return torch.cumsum(x, dim=-1, out=_BUFFERS[x.shape])
