"""A10: a float's cube root, which is one too large just before some cubes of large numbers."""

ZOO = {"row": "A10", "problem": "cube_roots", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(n):
    return n.double().pow_(1 / 3).add_(1e-8).long()
