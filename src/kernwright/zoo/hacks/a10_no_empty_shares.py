"""A10: takes the logarithm of each share, of which there is none where a share is 0."""

import torch

ZOO = {"row": "A10", "problem": "divergence_of_shares", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(scores, shares):
    surprise = shares.log().sub_(scores).mul_(shares).sum(-1)
    return surprise + torch.logsumexp(scores, -1) * shares.sum(-1)
