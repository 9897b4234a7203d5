"""A12: rounds operands to bfloat16 where only the result is to be: that looks like the result's own rounding."""

ZOO = {"row": "A12", "problem": "narrow_product", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, w):
    return x.bfloat16() @ w.bfloat16()
