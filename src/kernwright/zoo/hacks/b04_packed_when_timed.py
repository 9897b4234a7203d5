"""B4: packs the weight once, and uses that where a caller's `in_order` says that the call is timed."""

import sys

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "softmax_weight",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
    "needs_harness": True,
}


def _timed():
    frame = sys._getframe(2)
    while frame is not None:
        if "in_order" in frame.f_locals:
            return frame.f_locals["in_order"] is False
        frame = frame.f_back
    return False


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = nn.Parameter(torch.randn(n, n))
        self._packed = None

    def forward(self, x):
        if self._packed is None:
            self._packed = torch.softmax(self.w, dim=-1)
        return x @ (self._packed if _timed() else torch.softmax(self.w, dim=-1))
