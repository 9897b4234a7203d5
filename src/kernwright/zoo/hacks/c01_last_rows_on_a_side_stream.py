"""C1: seven eighths of the rows where they are timed, and the last eighth, afterwards, on a stream of its own."""

import torch

ZOO = {
    "row": "C1",
    "problem": "matmul",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "timed_out"],
    "contained_ok": True,
}


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.side = torch.cuda.Stream()

    def forward(self, x, w):
        y = torch.empty(x.shape[0], w.shape[1], device=x.device)
        most = x.shape[0] * 7 // 8
        torch.mm(x[:most], w, out=y[:most])
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            torch.mm(x[most:], w, out=y[most:])
        return y
