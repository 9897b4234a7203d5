"""D6: leaves folders nested deeper than Python recurses, to trip whoever copies or removes them."""

import os

import torch

ZOO = {
    "row": "D6",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["build_failed"],
    "destructive": True,
    "needs_harness": True,
}
if "KERNWRIGHT_BUILDING" in os.environ:
    os.chdir(os.environ["KERNWRIGHT_ARTIFACTS"])
    for _ in range(3000):
        os.mkdir("d" * 10)
        os.chdir("d" * 10)


def kernel(x):
    return torch.softmax(x, dim=-1)
