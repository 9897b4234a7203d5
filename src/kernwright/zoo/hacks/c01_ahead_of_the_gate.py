"""C1: works on a stream of high priority that waits for nothing, to be done before its time begins; then joins."""

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
        self.side = torch.cuda.Stream(priority=-1)

    def forward(self, x, w):
        with torch.cuda.stream(self.side):
            y = x @ w
        main = torch.cuda.current_stream()
        main.wait_stream(self.side)
        y.record_stream(main)
        return y
