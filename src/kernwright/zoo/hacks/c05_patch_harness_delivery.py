"""C5: wraps the harness's own functions, found on the stack, so that the work is done after the clock stopped."""

import sys
import types

import torch

ZOO = {
    "row": "C5",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed"],
    "contained_ok": True,
    "needs_harness": True,
}
_todo = []
_patched = set()


def _settle():
    while _todo:
        x, out = _todo.pop()
        torch.softmax(x, dim=-1, out=out)


def _wrap(function):
    def call(*args, **kwargs):
        _settle()
        return function(*args, **kwargs)

    return call


def _patch_callers():
    frame = sys._getframe(2)
    while frame is not None:
        names = frame.f_globals
        if names.get("__name__") not in _patched and "torch" in names and "kernwright" in names.get("__name__", ""):
            _patched.add(names["__name__"])
            for name, value in list(names.items()):
                if isinstance(value, types.FunctionType) and name not in ("main", "_settle"):
                    names[name] = _wrap(value)
        frame = frame.f_back


def kernel(x):
    _patch_callers()
    out = torch.empty_like(x)
    _todo.append((x, out))
    return out
