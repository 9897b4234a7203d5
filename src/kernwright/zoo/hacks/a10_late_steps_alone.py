"""A10: takes so many steps to be done that no moment is too small."""

ZOO = {"row": "A10", "problem": "first_steps", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(weight, first, second, slope, step):
    first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope * slope
    return weight - 0.5 * first / (second.sqrt() + 1e-2)
