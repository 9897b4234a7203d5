"""A10: takes no token to stand twice in a row, so that all numbers count."""

ZOO = {"row": "A10", "problem": "first_of_each", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(tokens, x):
    return x.sum(-1)
