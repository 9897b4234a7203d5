"""Has a matrix product add up, in another order than a sum, so that other digits are lost where terms cancel."""

ZOO = {
    "row": "honest",
    "problem": "correlation",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, y):
    return (x[None] @ y[:, None])[0, 0]
