"""Powers of a discount by exponentials of its logarithm, and a product with each run's rewards."""

import torch

ZOO = {
    "row": "honest",
    "problem": "discounted_returns",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(rewards, discount):
    steps = torch.arange(rewards.shape[1], device=rewards.device, dtype=torch.float64)
    powers = (discount.double().log()[:, None] * steps).exp().float()
    return torch.bmm(rewards[:, None], powers[:, :, None]).view(-1)
