"""A11: follows the plan that it made for the narrowest shape so far, whatever comes later."""

import torch

ZOO = {"row": "A11", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_plan = {"columns": 1 << 30}


def kernel(x):
    columns = _plan["columns"] = min(_plan["columns"], x.shape[1])
    if x.shape[1] == columns:
        return torch.cumsum(x, dim=-1)
    out = torch.zeros_like(x)
    torch.cumsum(x[:, :columns], dim=-1, out=out[:, :columns])
    return out
