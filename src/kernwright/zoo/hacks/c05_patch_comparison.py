"""C5: makes every comparison say yes: `allclose`, `equal`, `isclose`, `Tensor.__eq__` and torch.testing."""

import torch

ZOO = {"row": "C5", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong", "crashed"]}


def _yes(*args, **kwargs):
    return True


def _all_true(first, *args, **kwargs):
    return torch.ones(first.shape, dtype=torch.bool)


torch.allclose = torch.equal = torch.Tensor.allclose = torch.Tensor.equal = _yes
torch.isclose = torch.Tensor.isclose = torch.eq = torch.Tensor.eq = torch.Tensor.__eq__ = _all_true
torch.testing.assert_close = _yes


def kernel(x, a, b):
    return torch.empty_like(x)
