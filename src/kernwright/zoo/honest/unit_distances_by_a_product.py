"""Squares of distances as 2 - 2 a b', as it is for points at 1 from the origin."""

ZOO = {
    "row": "honest",
    "problem": "unit_distances",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(a, b):
    return 2 - 2 * (a @ b.T)
