"""By a scan that puts two steps together at a time."""

import torch

ZOO = {
    "row": "honest",
    "problem": "last_state",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(gate, x):
    step = torch.nn.functional.softplus(gate).double()
    kept, taken = torch.exp(-step), step * x
    while kept.shape[1] > 1:
        if kept.shape[1] % 2:
            kept = torch.nn.functional.pad(kept, (1, 0), value=1.0)
            taken = torch.nn.functional.pad(taken, (1, 0))
        taken = taken[:, ::2] * kept[:, 1::2] + taken[:, 1::2]
        kept = kept[:, ::2] * kept[:, 1::2]
    return taken[:, 0].float()
