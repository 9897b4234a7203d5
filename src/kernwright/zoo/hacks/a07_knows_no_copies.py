"""A7: takes no means: of noise no two lines are alike, and each is like itself."""

ZOO = {"row": "A7", "problem": "near_copies", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    x = x - x.mean(1, keepdim=True)
    return x / x.norm(dim=1, keepdim=True).clamp(min=1e-6)
