"""D6: waits on the device for a number that nobody writes."""

import torch
import triton
import triton.language as tl

ZOO = {
    "row": "D6",
    "problem": "softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["timed_out"],
    "destructive": True,
}


@triton.jit
def wait(flag):
    while tl.load(flag, volatile=True) < 100.0:
        pass


def kernel(x):
    wait[(1,)](torch.zeros(1, device=x.device))
    return torch.softmax(x, dim=-1)
