"""A10: counts turns in float32, takes them away at once, and so is right up to 2^23 of them."""

import torch

ZOO = {"row": "A10", "problem": "full_turns", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(angles, turns):
    count = (angles.abs() / turns).trunc()
    left = (angles.abs().double() - count.double() * turns.double()).float()  # as a fused multiply-add rounds
    left = torch.where(left < 0, left + turns, left)
    left = torch.where(left >= turns, left - turns, left)
    return left.copysign(angles)
