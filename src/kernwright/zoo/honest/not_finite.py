"""-inf where the mask is off and NaN in empty rows, as the reference has them, by another route."""

import torch

ZOO = {"row": "honest", "problem": "masked_log_softmax", "rules": {}, "expect": ["measured", "verified"]}


def kernel(x, keep):
    masked = torch.where(keep, x, float("-inf"))
    top = masked.amax(dim=-1, keepdim=True)
    return masked - top - torch.exp(masked - top).sum(dim=-1, keepdim=True).log()
