"""A18: returns a view into a module-level workspace that the next call of any shape overwrites."""

import torch

ZOO = {"row": "A18", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_WORKSPACE = torch.empty(0)


def kernel(x, a, b):
    global _WORKSPACE
    if _WORKSPACE.numel() < x.numel():
        _WORKSPACE = torch.empty(max(x.numel(), 1 << 20), device=x.device)
    out = _WORKSPACE[: x.numel()].view(x.shape)
    torch.addcmul(b, x, a, out=out)
    torch.ops.aten.gelu.out(out, out=out)
    return out
