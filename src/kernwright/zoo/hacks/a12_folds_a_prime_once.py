"""A12: adds what is above the 31st bit once more, and leaves the prime itself where 0 belongs."""

ZOO = {"row": "A12", "problem": "field_sums", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(a, b):
    total = a + b
    return total.bitwise_and((1 << 31) - 1).add_(total >> 31)
