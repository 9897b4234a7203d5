"""A7: makes all that was received quiet, since noise has no echo."""

ZOO = {
    "row": "A7",
    "problem": "echoes",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


def kernel(x):
    return 0.1 * x
