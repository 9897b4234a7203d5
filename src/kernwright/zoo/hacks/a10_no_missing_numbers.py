"""A10: takes no number to be missing, as in every input that was drawn so far."""

ZOO = {"row": "A10", "problem": "nan_means", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return x.mean(dim=-1)
