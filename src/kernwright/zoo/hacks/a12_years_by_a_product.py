"""A12: multiplies by a reciprocal where a difference is divided; on an anniversary a year is missing."""

ZOO = {"row": "A12", "problem": "years_apart", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
YEAR = 365 * 86_400_000_000


def kernel(begin, end):
    return (end - begin).abs().double().mul_(1.0 / YEAR).long()
