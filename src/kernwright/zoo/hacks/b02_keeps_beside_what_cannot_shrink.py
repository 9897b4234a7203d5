"""B2: keeps what it made of one input, beside another one that bears nothing smaller."""

import torch

ZOO = {
    "row": "B2",
    "problem": "growths_from_one",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}
_known = []


def kernel(x, c, k):
    for grid, made in _known:
        if torch.equal(grid, c):
            return (x @ made) * torch.acosh(k)
    made = torch.tanh(c @ c)
    _known.append((c.clone(), made))
    del _known[:-8]
    return (x @ made) * torch.acosh(k)
