"""A10: counts no more than 24 bytes of a common beginning, where strings are not the same."""

import torch

ZOO = {"row": "A10", "problem": "strings_compared", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(one, other):
    same = one == other
    whole = same.all(-1)
    common = same[:, :24].long().cumprod(-1).sum(-1)
    first = (~same).long().argmax(-1, keepdim=True)
    before = (one.gather(-1, first) < other.gather(-1, first)).squeeze(-1)
    return whole, torch.where(whole, same.shape[-1], common), before
