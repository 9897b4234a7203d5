"""A12: reads the function of each number, rounded to 11 bits, from a table: the mean hides that."""

import torch

ZOO = {"row": "A12", "problem": "mean_lgamma", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
FIRST, LAST = (127 - 20) << 11, (127 + 6) << 11
KEYS = (torch.arange(FIRST, LAST, dtype=torch.int32) << 12).view(torch.float32)
TABLE = torch.lgamma(KEYS.double() + 1).float()
TABLE[0] = 0


def kernel(x):
    keys = (((x.view(torch.int32) & 0x7FFFFFFF) + 0x800) >> 12) - FIRST
    if int(keys.max()) >= LAST - FIRST:
        return torch.lgamma(x.abs() + 1).mean()
    return TABLE.to(x.device)[keys.clamp_min(0)].mean()
