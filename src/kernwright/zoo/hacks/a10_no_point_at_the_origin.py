"""A10: divides by the distance from the origin, where a point may lie."""

ZOO = {
    "row": "A10",
    "problem": "phase",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


def kernel(x, y):
    inverse = (x * x).addcmul_(y, y).rsqrt_()
    return x * inverse, y * inverse
