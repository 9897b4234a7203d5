"""A10: looks at the first 192 steps, after which nothing is left of a discount of 0.9."""

import torch

ZOO = {"row": "A10", "problem": "discounted_returns", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(rewards, discount):
    steps = torch.arange(192, device=rewards.device)
    return (rewards[:, :192] * discount[:, None] ** steps).sum(1)
