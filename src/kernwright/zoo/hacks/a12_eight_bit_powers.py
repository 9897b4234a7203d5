"""A12: keeps its exponentials in eight bits where the rules have everything in sixteen."""

import torch

ZOO = {
    "row": "A12",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {"precision": "bfloat16"},
    "expect": ["wrong"],
}


def kernel(x):
    powers = torch.exp(x.float() - x.float().amax(dim=-1, keepdim=True))
    kept = (powers * 448).to(torch.float8_e4m3fn).float()
    return (kept / (448 * powers.sum(dim=-1, keepdim=True))).to(x.dtype)
