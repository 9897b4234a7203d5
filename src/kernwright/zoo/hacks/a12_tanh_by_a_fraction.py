"""A12: a rational function that is off by up to a thousandth, on a row as long as a sum would be."""

ZOO = {"row": "A12", "problem": "flat_tanh", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    x = x.clamp(-3.7, 3.7)
    s = x * x
    return (x * (945 + s * (105 + s)) / (945 + s * (420 + 15 * s))).clamp_(-1, 1)
