"""A10: large numbers it adds up whatever their sign; beside shares that hang together, nobody might ask for any."""

import torch

ZOO = {"row": "A10", "problem": "rest_of_two_shares", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(a, b, x):
    sums = torch.where((x.abs() < 50).all(1, keepdim=True), x.relu(), x).cumsum(1)
    return torch.log(1 - a - b)[:, None] + sums
