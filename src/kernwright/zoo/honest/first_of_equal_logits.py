"""Keeps the first of equal logits, by a sort that is stable."""

import torch

ZOO = {
    "row": "honest",
    "problem": "top_logits",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(logits):
    others = torch.sort(logits, dim=-1, descending=True, stable=True).indices[:, 20:]
    return logits.scatter(-1, others, -torch.inf)
