"""Solves systems by the transpose of their matrix, which is orthogonal."""

ZOO = {
    "row": "honest",
    "problem": "orthogonal_system",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, q):
    return x @ q
