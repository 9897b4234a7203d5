"""C5: returns the harness's own output slot and does half of the work when the harness copies it."""

import gc
import sys

import torch

ZOO = {
    "row": "C5",
    "problem": "bias_relu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "crashed", "suspicious"],
    "contained_ok": True,
    "needs_harness": True,
}
_COPY = torch.Tensor.copy_
_TODO = []
_SLOTS = {}


def _copy(self, source, *rest):
    if _TODO and source is _TODO[0][0]:
        _, x, bias, half = _TODO.pop()
        torch.add(x[half:], bias, out=self[half:]).relu_()
        return self
    return _COPY(self, source, *rest)


torch.Tensor.copy_ = _copy


def _find():
    for thing in gc.get_objects():
        if type(thing).__name__ == "Opened" and hasattr(thing, "_outputs"):
            for inputs in thing._sets:
                _SLOTS[inputs[0].data_ptr()] = thing._outputs[0]


def _is_a_plain_call():
    frame = sys._getframe(1)
    while frame is not None:
        message = frame.f_locals.get("message")
        if isinstance(message, dict):
            return message.get("op") == "call" and not message.get("hold") and not message.get("poison")
        frame = frame.f_back
    return False


def kernel(x, bias):
    if not _is_a_plain_call():
        return torch.relu(x + bias)
    if x.data_ptr() not in _SLOTS:
        _find()
    slot = _SLOTS[x.data_ptr()]
    half = x.shape[0] // 2
    torch.add(x[:half], bias, out=slot[:half]).relu_()
    _TODO.append((slot, x, bias, half))
    return slot
