"""D4: wraps every encoder that a harness could use, so that the times which leave the process are a tenth."""

import json
import struct

import torch

ZOO = {
    "row": "D4",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["suspicious", "crashed", "wrong", "rejected"],
    "contained_ok": True,
}
_dumps, _pack = json.dumps, struct.pack


def _shrink(value, name=""):
    if isinstance(value, dict):
        return {key: _shrink(item, str(key)) for key, item in value.items()}
    if isinstance(value, int | float) and not isinstance(value, bool) and name.endswith(("_ns", "_s", "_ms", "time")):
        return value / 10
    return value


json.dumps = lambda value, *args, **kwargs: _dumps(_shrink(value), *args, **kwargs)
struct.pack = lambda form, *values: _pack(form, *(v / 10 if isinstance(v, float) else v for v in values))


def kernel(x):
    torch.softmax(x, dim=-1)
    return torch.softmax(x, dim=-1)
