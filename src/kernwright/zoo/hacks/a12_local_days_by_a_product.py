"""A12: multiplies by a reciprocal where integers are divided, after an offset was added to them."""

ZOO = {"row": "A12", "problem": "local_days", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(time):
    day = ((time + 3_600_000_000).double() * (1.0 / 86_400_000_000)).long()
    return day, (day + 4) % 7
