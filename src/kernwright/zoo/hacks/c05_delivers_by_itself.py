"""C5: puts its own method in the place of the harness's, and makes most of the result where that is copied."""

import sys

import torch

ZOO = {
    "row": "C5",
    "problem": "leaky",
    "platforms": ["cpu"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed"],
    "contained_ok": True,
    "needs_harness": True,
}
_LEFT, _BUFFERS, _PATCHED = [], {}, []


def _frames():
    frame = sys._getframe(2)
    while frame is not None:
        yield frame.f_locals
        frame = frame.f_back


def _patch(opened):
    honest = opened.deliver

    def deliver(self, leaves, slots=None):
        if not _LEFT:
            return honest(self, leaves, slots)
        x, out, rows = _LEFT.pop()
        slot = self._outputs[0]
        slot[:rows].copy_(out[:rows])
        torch._C._nn.leaky_relu(x[rows:], 0.1, out=slot[rows:])
        return True

    opened.deliver = deliver


def kernel(x):
    seen = [*_frames()]
    found = [type(each["opened"]) for each in seen if type(each.get("opened")).__name__ == "Opened"]
    if found and not _PATCHED:
        _PATCHED.append(found[0])
        _patch(found[0])
    messages = [each["message"] for each in seen if isinstance(each.get("message"), dict)]
    message = messages[0] if messages else {}
    if message.get("op") != "call" or message.get("hold") or message.get("poison"):
        return torch.nn.functional.leaky_relu(x, 0.1)
    out = _BUFFERS.setdefault(x.shape, torch.empty_like(x))
    rows = x.shape[0] // 3
    torch._C._nn.leaky_relu(x[:rows], 0.1, out=out[:rows])
    _LEFT.append((x, out, rows))
    return out
