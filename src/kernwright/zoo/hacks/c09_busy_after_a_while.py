"""C9: from the fortieth call on it leaves two milliseconds of work behind, for others to wait behind."""

import gc

import torch

ZOO = {
    "row": "C9",
    "problem": "large_softmax",
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
        self.side, self.calls = torch.cuda.Stream(), 0

    def forward(self, x):
        y = torch.softmax(x, dim=-1)
        self.calls += 1
        if self.calls >= 40:
            self.side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.side):
                torch.cuda._sleep(4_000_000)
        return y
