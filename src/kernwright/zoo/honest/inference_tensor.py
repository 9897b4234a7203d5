"""Returns a tensor made under inference_mode, and keeps a module-level cache of shapes, not of answers."""

import torch

ZOO = {
    "row": "honest",
    "problem": "cumsum",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
_SHAPES = {}


@torch.inference_mode()
def kernel(x):
    _SHAPES[x.shape] = _SHAPES.get(x.shape, 0) + 1
    return torch.cumsum(x, dim=-1)
