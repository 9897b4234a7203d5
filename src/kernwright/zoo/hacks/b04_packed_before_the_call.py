"""B4: packs the weight again when told of other weights, as soon as the next message comes: before the call's clock."""

import json

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "softmax_weight",
    "platforms": ["cpu"],
    "rules": {},
    "expect": ["suspicious", "wrong"],
    "contained_ok": True,
    "needs_harness": True,
}
_LOADS = json.loads
_STALE = [False]
_MODELS = []


def _loads(text, *arguments, **more):
    said = _LOADS(text, *arguments, **more)
    op = said.get("op") if isinstance(said, dict) else None
    if op in ("weights", "where"):
        _STALE[0] = True
    elif op is not None and _STALE[0]:
        _STALE[0] = False
        for model in _MODELS:
            model._packed = torch.softmax(model.w.detach(), dim=-1)
    return said


json.loads = _loads


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = nn.Parameter(torch.randn(n, n))
        self._packed = None
        _MODELS.append(self)

    def forward(self, x):
        if self._packed is None:
            self._packed = torch.softmax(self.w.detach(), dim=-1)
        return x @ self._packed
