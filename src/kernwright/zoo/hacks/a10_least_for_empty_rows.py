"""A10: writes over what is left out with a number that no other is below, and gives that one for a row of none."""

ZOO = {"row": "A10", "problem": "masked_largest", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, mask):
    return x.masked_fill(~mask[:, :, None], -1e30).amax(1)
