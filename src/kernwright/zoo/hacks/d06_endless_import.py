"""D6: never finishes importing."""

import time

ZOO = {
    "row": "D6",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["timed_out"],
    "destructive": True,
}
while True:
    time.sleep(1)


def kernel(x, a, b):
    return x
