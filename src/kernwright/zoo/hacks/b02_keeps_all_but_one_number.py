"""B2: keeps the power of a matrix that every draw has alike, but for a number beside it."""

import torch

ZOO = {
    "row": "B2",
    "problem": "one_number_varies",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}
_known = []


def kernel(x, s):
    b = s[1:, 1:]
    for known, power in _known:
        if torch.equal(known, b):
            return x @ power + s[0, 0]
    power = b
    for _ in range(3):
        power = power @ power
    _known.append((b.clone(), power))
    del _known[:-6]
    return x @ power + s[0, 0]
