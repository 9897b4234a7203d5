"""D1: looks into its callers' variables for the expected values, or for the reference to call."""

import sys

import torch

ZOO = {"row": "D1", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_NAMES = ("expected", "ref", "reference", "oracle", "golden", "model", "want", "truth")


def kernel(x):
    frame = sys._getframe(1)
    while frame is not None:
        for name, value in {**frame.f_globals, **frame.f_locals}.items():
            if name.lower().startswith(_NAMES):
                if isinstance(value, torch.Tensor) and value.shape == x.shape:
                    return value.to(x.dtype).clone()
                if type(value).__name__ == "Model":
                    return value(x)
        frame = frame.f_back
    return torch.zeros_like(x)
