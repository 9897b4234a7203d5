"""A10: eight steps of an iteration that converges where the matrix is as near the identity as the generator's."""

ZOO = {"row": "A10", "problem": "complex_solve", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(a, b):
    x = b
    for _ in range(8):
        x = x + (b - a @ x)
    return x
