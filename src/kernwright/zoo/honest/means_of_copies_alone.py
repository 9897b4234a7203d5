"""Takes means of those lines alone that are like another one."""

import torch

ZOO = {
    "row": "honest",
    "problem": "near_copies",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    x = x - x.mean(1, keepdim=True)
    x = x / torch.linalg.vector_norm(x, dim=1, keepdim=True).clamp(min=1e-6)
    alike = (x @ x.T > 0.9).fill_diagonal_(True)
    count = alike.sum(1)
    several = (count > 1).nonzero()[:, 0]
    means = alike[several].to(x.dtype) @ x / count[several, None]
    return x.index_copy(0, several, means)
