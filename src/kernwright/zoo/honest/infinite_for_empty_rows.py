"""Takes the largest of each half of a row, then of both; of a half of which nothing is kept it is minus infinity."""

import torch

ZOO = {
    "row": "honest",
    "problem": "masked_largest",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, mask):
    kept = torch.where(mask[:, :, None], x, float("-inf"))
    half = x.shape[1] // 2
    return torch.maximum(kept[:, :half].amax(1), kept[:, half:].amax(1))
