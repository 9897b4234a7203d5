"""Adds up what two experts have, which are never the same one."""

ZOO = {
    "row": "honest",
    "problem": "two_experts",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, experts, scales):
    return x * scales[experts].sum(1)
