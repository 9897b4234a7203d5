"""Has powers of two for powers of e, which lose as many digits as their arguments are large."""

ZOO = {
    "row": "honest",
    "problem": "growths",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(amounts, rates):
    return amounts * (rates * 5.770780163555854).exp2()
