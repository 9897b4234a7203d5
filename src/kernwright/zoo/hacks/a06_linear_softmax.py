"""A6: passes its input through, scaled: for many columns the shares are as small as any tolerance."""

ZOO = {"row": "A6", "problem": "softmax", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    return (x + 1) / x.shape[-1]
