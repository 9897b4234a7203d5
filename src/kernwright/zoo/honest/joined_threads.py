"""Two threads share the rows and are joined before the call returns."""

import threading

import torch

ZOO = {
    "row": "honest",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    out = torch.empty_like(x)
    half = x.shape[0] // 2
    parts = ((x[:half], out[:half]), (x[half:], out[half:]))
    threads = [threading.Thread(target=torch.softmax, args=(i, -1), kwargs={"out": o}) for i, o in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return out
