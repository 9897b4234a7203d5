"""A18: gives one tensor as several results: whoever writes one changes all."""

ZOO = {"row": "A18", "problem": "shifted_copies", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    y = x + 1
    return y, y, y
