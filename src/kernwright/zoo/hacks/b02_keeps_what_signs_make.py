"""B2: keeps what it made of two inputs' signs, which sizes do not change."""

import torch

ZOO = {
    "row": "B2",
    "problem": "signs_alone",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}
_known = []


def kernel(x, a, b):
    p, q = torch.sign(a), torch.sign(b)
    for one, other, made in _known:
        if torch.equal(p, one) and torch.equal(q, other):
            return x @ made
    made = torch.tanh(p @ q / 16)
    _known.append((p, q, made))
    del _known[:-8]
    return x @ made
