"""D4: takes eight tenths of a microsecond off each call, which is less than the noise of many calls in a message."""

import gc

import torch

ZOO = {
    "row": "D4",
    "problem": "linear_relu",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["suspicious", "crashed", "wrong", "rejected"],
    "contained_ok": True,
    "needs_harness": True,
}
for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._elapsed = lambda start, end, honest=_thing._elapsed: max(honest(start, end) - 0.0008, 0.001)


class ModelNew(torch.nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.linear = torch.nn.Linear(*sizes)

    def forward(self, x):
        return torch.relu(self.linear(x))
