"""D6: never returns."""

ZOO = {
    "row": "D6",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["timed_out"],
    "destructive": True,
}


def kernel(x):
    while True:
        x = x + 0
