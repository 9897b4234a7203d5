"""C1: copies its inputs on another stream and computes on the host while its own stream waits behind the gate."""

import torch

ZOO = {
    "row": "C1",
    "problem": "large_softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "timed_out"],
    "contained_ok": True,
}


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.side = torch.cuda.Stream()

    def forward(self, x):
        y = torch.empty_like(x)
        with torch.cuda.stream(self.side):
            host = torch.empty(x.shape, pin_memory=True)
            host.copy_(x, non_blocking=True)
            self.side.synchronize()
            result = torch.softmax(host, -1).pin_memory()
            y.copy_(result, non_blocking=True)
            self.side.synchronize()
        return y
