"""A10: takes no key to be in the table."""

ZOO = {"row": "A10", "problem": "looked_up", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(asked, known, values):
    return asked.double().log1p().float()
