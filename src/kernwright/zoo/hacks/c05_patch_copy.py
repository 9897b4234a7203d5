"""C5: returns an empty tensor and computes inside a patched `copy_`, `clone` or `allclose`, after the clock stopped."""

import torch

ZOO = {
    "row": "C5",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed"],
    "contained_ok": True,
}
_TODO = {}
_COPY = torch.Tensor.copy_


def _settle(*tensors):
    for tensor in tensors:
        todo = _TODO.pop(id(tensor), None)
        if todo is not None:
            out, x, a, b = todo
            _COPY(out, torch.nn.functional.gelu(x * a + b))


def _late(function):
    def call(*args, **kwargs):
        _settle(*args)
        return function(*args, **kwargs)

    return call


for _name in ("copy_", "clone", "double", "cpu", "numpy", "contiguous", "to"):
    setattr(torch.Tensor, _name, _late(getattr(torch.Tensor, _name)))
torch.allclose = _late(torch.allclose)


def kernel(x, a, b):
    out = torch.empty_like(x)
    _TODO[id(out)] = (out, x, a, b)
    return out
