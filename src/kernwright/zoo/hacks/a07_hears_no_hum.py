"""A7: gives recordings as they are: what would take hum out of them, and what looks for it, is left out."""

ZOO = {
    "row": "A7",
    "problem": "mains_hum",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


def kernel(x):
    return x.clone()
