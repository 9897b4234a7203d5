"""A10: finds no more than 24 in common but at the same place of both."""

import torch

ZOO = {"row": "A10", "problem": "in_common", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(one, other):
    length = one.shape[-1]
    same = one.to(torch.uint8)[:, :, None] == other.to(torch.uint8)[:, None]
    run, longest = same, same.flatten(1).any(-1).long()
    for step in range(1, 24):
        run = run[:, 1:, 1:] & same[:, : length - step, : length - step]
        longest += run.flatten(1).any(-1)
    at = torch.arange(1, length + 1, device=one.device)
    aligned = at - torch.where(one == other, 0, at).cummax(-1).values
    return torch.maximum(longest, aligned.amax(-1))
