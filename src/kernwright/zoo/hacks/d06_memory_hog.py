"""D6: touches 6 GiB in steps of 64 MiB and keeps them; of the host's 16 where a runner with a device may have more."""

import torch

ZOO = {
    "row": "D6",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["crashed", "timed_out"],
    "destructive": True,
}
_HELD = []


def kernel(x):
    while len(_HELD) < (96 if x.device.type == "cpu" else 256):
        _HELD.append(torch.ones(16 << 20))
    return torch.softmax(x, dim=-1)
