"""Prints at import and in every call, JSON among it."""

import sys

import torch

ZOO = {
    "row": "honest",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
print('{"verdict": "I was imported"}', flush=True)


def kernel(x):
    print(f"softmax of {tuple(x.shape)}", flush=True)
    print("to the error stream, too", file=sys.stderr, flush=True)
    return torch.softmax(x, dim=-1)
