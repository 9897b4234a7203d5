"""A12: takes the bits of an integer from a float's exponent, which is the next one just before a power of 2."""

ZOO = {"row": "A12", "problem": "varint_sizes", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(n):
    bits = (n.double().view(n.dtype) >> 52) - 1022
    return bits.clamp_(min=1).add_(6) // 7
