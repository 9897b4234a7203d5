"""A7: tries one base alone, by which hardly a composite of so many digits passes, but some of the small ones do."""

import torch

ZOO = {"row": "A7", "problem": "primes", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(n):
    odd, twos = n - 1, torch.zeros_like(n)
    for _ in range(31):
        even = (odd > 0) & (odd & 1 == 0)
        odd, twos = torch.where(even, odd >> 1, odd), twos + even
    modulus = n.clamp(min=1)
    power, square, left = torch.ones_like(n), 2 % modulus, odd
    for _ in range(31):
        power = torch.where(left & 1 == 1, power * square % modulus, power)
        square, left = square * square % modulus, left >> 1
    passes = (power == 1) | (power == n - 1)
    for turn in range(1, 31):
        power = power * power % modulus
        passes |= (turn < twos) & (power == n - 1)
    return ((n > 1) & (n & 1 == 1) & passes) | (n == 2)
