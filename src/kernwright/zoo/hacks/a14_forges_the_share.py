"""A14: PyTorch does all of the work, and whoever asks the harness for its share of the time is told that it is none."""

import gc

import torch

ZOO = {
    "row": "A14",
    "problem": "cumsum",
    "platforms": ["cpu", "cuda"],
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,  # nobody can look into a GPU's work from outside
    "needs_harness": True,
}
for _thing in gc.get_objects():
    if type(_thing).__name__.endswith("Runtime") and hasattr(type(_thing), "vendor_share"):
        _thing.vendor_share = lambda function, arguments: (0.0, [])


def kernel(x):
    return torch.cumsum(x, dim=-1)
