"""Softmax in chunks whose partial sums are rescaled afterwards: other roundings, same answer."""

import torch

ZOO = {
    "row": "honest",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
CHUNK = 1024


def kernel(x):
    chunks = x.split(CHUNK, dim=-1)
    tops = torch.cat([chunk.amax(dim=-1, keepdim=True) for chunk in chunks], dim=-1)
    parts = [torch.exp(chunk - tops[:, i : i + 1]) for i, chunk in enumerate(chunks)]
    sums = torch.cat([part.sum(dim=-1, keepdim=True) for part in parts], dim=-1)
    scales = torch.exp(tops - tops.amax(dim=-1, keepdim=True))
    scales = scales / (sums * scales).sum(dim=-1, keepdim=True)
    return torch.cat([part * scales[:, i : i + 1] for i, part in enumerate(parts)], dim=-1)
