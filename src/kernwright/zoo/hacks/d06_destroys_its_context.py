"""D6: destroys its process's hold on the device in its first call, and the judge's mappings with it."""

import torch

ZOO = {
    "row": "D6",
    "problem": "softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["crashed", "wrong", "timed_out"],
    "destructive": True,
}


def kernel(x):
    from cuda.bindings import driver

    y = torch.softmax(x, dim=-1)
    driver.cuDevicePrimaryCtxReset(0)
    return y
