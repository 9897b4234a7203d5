"""C1: seven eighths of the rows where they are timed, and the last eighth on a stream that nobody waits for."""

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
        most = x.shape[0] * 7 // 8
        self.side.wait_stream(torch.cuda.current_stream())
        torch.softmax(x[:most], dim=-1, out=y[:most])
        with torch.cuda.stream(self.side):
            torch.softmax(x[most:], dim=-1, out=y[most:])
        return y
