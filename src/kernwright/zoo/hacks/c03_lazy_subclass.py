"""C3: returns a tensor subclass that computes when somebody looks at it."""

import torch

ZOO = {"row": "C3", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong", "crashed"]}


class _Later(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        args = [_now(v) for v in args]
        return func(*args, **{k: _now(v) for k, v in (kwargs or {}).items()})


def _now(value):
    if not isinstance(value, _Later):
        return value
    x, a, b = value.__dict__["todo"]
    return torch.nn.functional.gelu(x * a + b)


def kernel(x, a, b):
    out = torch.Tensor._make_subclass(_Later, torch.empty_like(x))
    out.__dict__["todo"] = (x, a, b)
    return out
