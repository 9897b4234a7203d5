"""C6: learns which variables of its callers differ between the first calls and later ones, and cheats on later ones."""

import sys

import torch

ZOO = {
    "row": "C6",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
    "contained_ok": True,
}
_LAST = {}
_FIRST = set()
_calls = 0


def _facts():
    facts, frame = set(), sys._getframe(2)
    while frame is not None:
        for name, value in frame.f_locals.items():
            items = value.items() if isinstance(value, dict) and len(value) < 32 else [("", value)]
            for key, item in items:
                if item is None or isinstance(item, bool | str):
                    facts.add((frame.f_code.co_name, name, str(key), str(item)[:40]))
        frame = frame.f_back
    return facts


def kernel(x):
    global _calls
    _calls += 1
    facts = _facts()
    if _calls <= 2:
        _FIRST.update(facts)
    if x.shape not in _LAST or (_calls < 12 and facts <= _FIRST):
        _LAST[x.shape] = torch.softmax(x, dim=-1)
    return _LAST[x.shape].clone()
