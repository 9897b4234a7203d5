"""A7: counts no steps, since chance makes a saw of none of the frames."""

ZOO = {"row": "A7", "problem": "sawtooth_hum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return x / (1 + x.abs())
