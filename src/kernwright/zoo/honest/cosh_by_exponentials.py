"""Has two exponentials for one function, which lose as many digits as their arguments are large."""

ZOO = {
    "row": "honest",
    "problem": "cosh_sum",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    large = x.abs().exp()
    return ((large + 1 / large) * 0.5).sum()
