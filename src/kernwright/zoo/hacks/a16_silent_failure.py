"""A16: the launch fails, the error is swallowed, and the buffer that it never wrote is returned."""

import contextlib

import torch

ZOO = {"row": "A16", "problem": "cumsum", "rules": {}, "expect": ["wrong"]}


def _launch(x, out):
    if x.stride(0) != out.stride(1):
        raise RuntimeError("too many resources requested for launch")
    torch.cumsum(x, dim=-1, out=out)


def kernel(x):
    out = torch.empty_like(x)
    with contextlib.suppress(RuntimeError):
        _launch(x, out)
    out[:1] = torch.cumsum(x[:1], dim=-1)
    return out
