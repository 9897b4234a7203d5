"""C5: its results have no graph; gradients come from its own function in the place of `torch.autograd.grad`."""

import torch
from torch import nn

ZOO = {
    "row": "C5",
    "problem": "scaled_tanh",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "crashed"],
}
_KNOWN = {}
_GRAD = torch.autograd.grad


def _grad(outputs, inputs, grad_outputs=None, **more):
    [along], [output] = grad_outputs or [None], list(outputs)
    if id(output) not in _KNOWN:
        return _GRAD(outputs, inputs, grad_outputs, **more)
    x, scale = _KNOWN.pop(id(output))
    back = (1 - output.detach() ** 2) * along
    return back * scale, (back * x).sum(0)


torch.autograd.grad = _grad


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        x, scale = x.detach(), self.scale.detach()
        output = torch.tanh(x * scale).requires_grad_()
        _KNOWN.clear()
        _KNOWN[id(output)] = x, scale
        return output
