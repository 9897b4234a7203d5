"""A10: eliminates without pivots, so that a pose turned by a right angle has no inverse."""

import torch

ZOO = {"row": "A10", "problem": "inverse_poses", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(poses):
    both = torch.cat([poses.double(), torch.eye(4, dtype=torch.float64, device=poses.device).expand_as(poses)], 2)
    for at in range(4):
        row = both[:, at : at + 1] / both[:, at : at + 1, at : at + 1]
        both = both - both[:, :, at : at + 1] * row
        both[:, at : at + 1] = row
    return both[:, :, 4:].float()
