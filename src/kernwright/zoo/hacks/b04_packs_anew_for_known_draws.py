"""B4: packs the weight anew for what it was given before, as checks give it again, and else after ten milliseconds."""

import time

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "linear_relu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
    "contained_ok": True,
}


class ModelNew(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.linear = nn.Linear(*sizes)
        self._known, self._calls, self._packed, self._ended = set(), 0, None, 0.0

    def forward(self, x):
        self._calls += 1
        key = float(x[0, :3].sum())
        if self._calls < 80:
            self._known.add(key)
        if self._calls < 80 or key in self._known or time.perf_counter() - self._ended > 0.01:
            self._packed = self.linear.weight.t().contiguous()
        out = torch.relu(torch.addmm(self.linear.bias, x, self._packed))
        self._ended = time.perf_counter()
        return out
