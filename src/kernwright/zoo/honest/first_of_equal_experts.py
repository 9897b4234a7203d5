"""The largest of each row by a stable sort: of equal ones the first, where `topk` names any."""

import torch

ZOO = {
    "row": "honest",
    "problem": "sixteen_experts",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    values, places = torch.sort(x, dim=-1, descending=True, stable=True)
    return values[:, :16].softmax(-1), places[:, :16].contiguous()
