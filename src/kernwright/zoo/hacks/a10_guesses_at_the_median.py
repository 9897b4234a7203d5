"""A10: every 32nd number says between which two the median lies, and nobody looks whether it does."""

import torch

ZOO = {"row": "A10", "problem": "row_median", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
STEP, MARGIN = 32, 0.2


def kernel(x):
    n = x.shape[1]
    some = x[:, ::STEP].sort(1).values
    low, high = (some[:, int((0.5 + side) * some.shape[1])][:, None] for side in (-MARGIN, MARGIN))
    below = (x < low).sum(1)
    near = torch.where((x >= low) & (x <= high), x, torch.inf)
    most = int(3 * MARGIN * n)
    near = near.topk(most, dim=1, largest=False).values
    return near.gather(1, ((n - 1) // 2 - below).clamp(0, most - 1)[:, None])[:, 0]
