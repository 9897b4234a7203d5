"""A12: takes a float's root as it comes, which is that of the next square for the integer before it."""

ZOO = {"row": "A12", "problem": "integer_roots", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(n):
    return n.double().sqrt_().long()
