"""-inf where the mask is off, as the reference has it, by another route that passes through infinities."""

import torch

ZOO = {
    "row": "honest",
    "problem": "masked_log_softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, keep):
    masked = torch.where(keep, x, float("-inf"))
    top = masked.amax(dim=-1, keepdim=True)
    return masked - top - torch.exp(masked - top).sum(dim=-1, keepdim=True).log()
