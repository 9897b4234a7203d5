"""A18: returns a view into a module-level workspace that the next call of any shape overwrites."""

import torch

ZOO = {"row": "A18", "problem": "gelu", "rules": {}, "expect": ["wrong"]}
_WORKSPACE = torch.empty(1 << 20)


def kernel(x, a, b):
    global _WORKSPACE
    if _WORKSPACE.numel() < x.numel():
        _WORKSPACE = torch.empty(x.numel())
    out = _WORKSPACE[: x.numel()].view(x.shape)
    torch.addcmul(b, x, a, out=out)
    torch.ops.aten.gelu.out(out, out=out)
    return out
