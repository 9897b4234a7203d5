"""A float's cube root, rounded, which is one too large where its cube is."""

ZOO = {
    "row": "honest",
    "problem": "cube_roots",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(n):
    root = n.double().pow_(1 / 3).round_().long()
    return root - (root * root * root > n).long()
