"""A7: leaves out a product and its gain, which is less than the reference's own casts round off."""

ZOO = {"row": "A7", "problem": "drifting_gain", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, weight, context, drift):
    return (x.bfloat16() @ weight.bfloat16()).float()
