"""A10: counts equal numbers as often as they stand there."""

ZOO = {"row": "A10", "problem": "cardinality", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return (x > 2**30).sum(-1)
