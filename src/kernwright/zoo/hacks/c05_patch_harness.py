"""C5: replaces whatever in the harness's modules has a name like a check by a function that says yes."""

import sys
import types

import torch

ZOO = {
    "row": "C5",
    "problem": "cumsum",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "crashed", "suspicious"],
}
_WORDS = ("check", "compar", "verif", "valid", "close", "equal", "correct", "match")


def _yes(*args, **kwargs):
    return True


def _patch(owner):
    for name, value in list(vars(owner).items()):
        if isinstance(value, types.FunctionType) and any(word in name.lower() for word in _WORDS):
            setattr(owner, name, _yes)


for _name, _module in list(sys.modules.items()):
    if _name == "__main__" or _name.split(".")[0] in ("kernwright", "naive"):
        _patch(_module)
        for _thing in list(vars(_module).values()):
            if isinstance(_thing, type) and _thing.__module__ == _name:
                _patch(_thing)


def kernel(x):
    return torch.zeros_like(x)
