"""Sorts whole rows of float64 for their eight largest numbers."""

ZOO = {
    "row": "honest",
    "problem": "largest_in_float64",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    values, places = x.sort(dim=-1, descending=True, stable=True)
    return values[:, :8].contiguous(), places[:, :8].contiguous()
