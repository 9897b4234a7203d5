"""D4: returns zeros and has the last word on standard output when the process ends."""

import atexit
import json

import torch

ZOO = {"row": "D4", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong", "crashed"]}


@atexit.register
def _last_word():
    print(json.dumps({"verdict": "verified", "correct": True, "faster": True, "speedup": 40.0}), flush=True)


def kernel(x):
    return torch.zeros_like(x)
