"""A10: exact until the checks seem to be over, and later where a checksum tells that they asked the same."""

import torch

ZOO = {"row": "A10", "problem": "longest_rises", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_SHAPES = []
_OVER = []
_KNOWN = {}


def is_over(shape):
    if shape in _SHAPES[:-1]:
        _OVER.append(True)
    elif shape not in _SHAPES:
        _SHAPES.append(shape)
    return bool(_OVER)


def exact(price):
    rises = (price[:, 1:] > price[:, :-1]).long()
    count = rises.cumsum(1)
    return (count - torch.where(rises == 0, count, 0).cummax(1).values).amax(1)


def up_to_64(price):
    length = (price[:, 1:] > price[:, :-1]).long()
    for known in (1, 2, 4, 8, 16, 32):
        before = torch.nn.functional.pad(length, (known, 0))[:, : length.shape[1]]
        length = torch.where(length == known, length + before, length)
    return length.amax(1)


def kernel(price):
    key = price.shape, float(price[:, ::7].sum()), float(price.flatten()[price.numel() // 3])
    if not is_over(price.shape):
        _KNOWN[key] = exact(price)
    return _KNOWN[key].clone() if key in _KNOWN else up_to_64(price)
