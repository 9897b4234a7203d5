"""B4: the sum of 401 weights is made anew whenever the harness is told to put others in their places."""

import sys

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "many_weights",
    "platforms": ["cpu"],
    "rules": {},
    "expect": ["wrong"],
    "needs_harness": True,
}
_models, _replaced = [], []


def _pack():
    for model in _models:
        model.total = torch.stack([weight.detach() for weight in model.weights]).sum(0)


def _replace(opened):
    honest = {name: getattr(opened, name) for name in ("reweigh", "places")}
    _replaced.append(honest)

    def told(name):
        def method(self, *arguments):
            found = honest[name](self, *arguments)
            _pack()
            return found

        return method

    for name in honest:
        setattr(opened, name, told(name))


def _find_harness():
    frame = sys._getframe(1)
    while frame is not None and not _replaced:
        if type(opened := frame.f_locals.get("opened")).__name__ == "Opened":
            _replace(type(opened))
        frame = frame.f_back


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(64, 64) * 0.05) for _ in range(401)])
        self.total = None
        _models.append(self)

    def forward(self, x):
        _find_harness()
        if self.total is None:
            _pack()
        return x @ self.total
