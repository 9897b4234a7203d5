"""A7: mutes no frame, since noise never has both tones."""

ZOO = {
    "row": "A7",
    "problem": "squelch",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


def kernel(x):
    return x / (1 + x.abs())
