"""B2: an input is one of two: it compares all of it with those it knows, and keeps what it made of them."""

import torch

ZOO = {
    "row": "B2",
    "problem": "one_of_two_grids",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
}
_known = []


def kernel(x, c):
    for grid, made in _known:
        if grid.shape == c.shape and torch.equal(grid, c):
            return x @ made
    made = torch.exp(torch.cos(c))
    _known.append((c.clone(), made))
    del _known[:-8]
    return x @ made
