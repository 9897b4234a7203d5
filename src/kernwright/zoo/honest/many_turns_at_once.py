"""Takes away as many turns as float64 holds at a time, which rounds nothing."""

import torch

ZOO = {
    "row": "honest",
    "problem": "full_turns",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(angles, turns):
    left, wide = angles.abs().double(), turns.abs().double()
    for power in range(144, -1, -24):
        some = wide * 2.0**power
        left = left - (left / some).trunc() * some
        left = torch.where(left < 0, left + some, left)
    return left.float().copysign(angles)
