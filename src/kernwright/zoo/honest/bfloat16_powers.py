"""Softmax that keeps its exponentials in bfloat16, as the rules have everything in it, and adds them up in float32."""

import torch

ZOO = {
    "row": "honest",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {"precision": "bfloat16"},
    "expect": ["measured", "verified"],
}


def kernel(x):
    powers = torch.exp(x.float() - x.float().amax(dim=-1, keepdim=True)).bfloat16()
    return (powers.float() / powers.float().sum(dim=-1, keepdim=True)).to(x.dtype)
