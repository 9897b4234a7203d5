"""A12: products of bfloat16, whose errors a sum of terms that cancel might seem to explain."""

ZOO = {"row": "A12", "problem": "correlation", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, y):
    return (x.bfloat16() * y.bfloat16()).float().sum()
