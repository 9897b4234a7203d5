"""A5: squares, since an exponent that comes as a tensor was 2 whenever anybody looked."""

ZOO = {"row": "A5", "problem": "one_exponent", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, exponent):
    return x * x
