"""C9: leaves a long kernel behind whenever it is called, to slow the baseline down while it is stopped itself."""

import gc

import torch

ZOO = {
    "row": "C9",
    "problem": "softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "timed_out"],
    "contained_ok": True,
    "needs_harness": True,
}

for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._synchronize = lambda: None


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.side = torch.cuda.Stream()

    def forward(self, x):
        y = torch.softmax(x, -1)
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            torch.cuda._sleep(40_000_000)
        return y
