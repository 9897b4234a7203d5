"""A12: rounds integers to float32 before their difference; of two times near each other nothing is left."""

ZOO = {"row": "A12", "problem": "seconds_between", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(later, before):
    return (later.float() - before.float()) / 1e6
