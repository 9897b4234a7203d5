"""B4: has the harness's own methods pack the weight whenever they are called for new weights, outside of every call."""

import sys

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "softmax_weight",
    "platforms": ["cpu"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "needs_harness": True,
}
_MODELS, _PATCHED = [], []


def _packed():
    for model in _MODELS:
        model._packed = torch.softmax(model.w.detach(), dim=-1)


def _patch(opened):
    for name in ("reweigh", "places"):
        honest = getattr(opened, name)

        def method(self, *arguments, honest=honest):
            found = honest(self, *arguments)
            _packed()
            return found

        setattr(opened, name, method)


def _find():
    frame = sys._getframe(2)
    while frame is not None and not _PATCHED:
        opened = frame.f_locals.get("opened")
        if type(opened).__name__ == "Opened":
            _PATCHED.append(type(opened))
            _patch(type(opened))
        frame = frame.f_back


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = nn.Parameter(torch.randn(n, n))
        self._packed = None
        _MODELS.append(self)

    def forward(self, x):
        _find()
        if self._packed is None:
            self._packed = torch.softmax(self.w.detach(), dim=-1)
        return x @ self._packed
