"""A7: mutes no frame: noise has each harmonic now and then, and never all eight."""

ZOO = {"row": "A7", "problem": "harmonics", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return x / (1 + x.abs())
