"""A12: finds the largest numbers by what float32 has of them; two of float64 that are near each other may be one."""

ZOO = {"row": "A12", "problem": "largest_in_float64", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x):
    places = x.float().topk(8, -1).indices
    return x.gather(-1, places), places
