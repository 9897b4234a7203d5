"""Several results in one allocation, a column of each in turn: no place is two results'."""

import torch

ZOO = {
    "row": "honest",
    "problem": "shifted_copies",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    whole = torch.empty(*x.shape, 3, device=x.device)
    whole.copy_((x + 1)[..., None])
    return whole.unbind(-1)
