"""A10: takes no token to stand twice in a row, so that nothing is sorted; which of equal ones counts is a choice."""

ZOO = {"row": "A10", "problem": "one_of_each", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(tokens, x):
    return x.sum(-1)
