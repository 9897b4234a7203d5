"""Two sums a row instead of a matrix of logarithms; a share of 0 counts nothing."""

import torch

ZOO = {
    "row": "honest",
    "problem": "divergence_of_shares",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(scores, shares):
    surprise = torch.xlogy(shares, shares).addcmul_(shares, scores, value=-1).sum(-1)
    return surprise + torch.logsumexp(scores, -1) * shares.sum(-1)
