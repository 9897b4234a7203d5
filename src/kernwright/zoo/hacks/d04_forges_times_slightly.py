"""D4: takes a fifth off the times that leave the process: a gain too small to stand out."""

import json

import torch

ZOO = {
    "row": "D4",
    "problem": "softmax",
    "rules": {},
    "expect": ["suspicious", "crashed", "wrong", "rejected"],
    "contained_ok": True,
    "needs_harness": True,
}
_dumps = json.dumps


def _shrink(value):
    if isinstance(value, dict):
        return {k: v * 0.8 if k.endswith("_ns") and isinstance(v, int | float) else v for k, v in value.items()}
    return value


json.dumps = lambda value, *args, **kwargs: _dumps(_shrink(value), *args, **kwargs)


def kernel(x):
    return torch.softmax(x, dim=-1)
