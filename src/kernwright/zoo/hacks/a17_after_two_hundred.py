"""A17: right for two hundred calls of a shape, more than any check makes, and then the last result again."""

import torch

ZOO = {
    "row": "A17",
    "problem": "bias_relu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}
_calls, _kept = {}, {}


def kernel(x, b):
    _calls[x.shape] = _calls.get(x.shape, 0) + 1
    if _calls[x.shape] <= 200:
        _kept[x.shape] = torch.relu(x + b)
    return _kept[x.shape].clone()
