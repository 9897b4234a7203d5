"""Every positive beside every negative."""

import torch

ZOO = {
    "row": "honest",
    "problem": "area_under_curve",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(positives, negatives):
    shares = []
    for first, second in zip(positives, negatives, strict=True):
        difference = torch.sign(first[:, None] - second[None, :])
        shares.append((difference.double().mean() + 1) / 2)
    return torch.stack(shares).float()
