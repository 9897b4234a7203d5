"""A10: leaves out rounds that random forests do not need, and finds roots up to 32 nodes away."""

ZOO = {"row": "A10", "problem": "roots_of_a_forest", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(parent, value):
    for _ in range(5):
        parent = parent[parent]
    return value[parent]
