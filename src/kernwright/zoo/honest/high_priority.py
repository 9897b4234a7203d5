"""Everything on a stream of high priority, with events on both of its ends."""

import torch

ZOO = {"row": "honest", "problem": "softmax", "platforms": ["cuda"], "rules": {}, "expect": ["measured", "verified"]}


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.side = torch.cuda.Stream(priority=-1)
        self.begun, self.done = torch.cuda.Event(), torch.cuda.Event()

    def forward(self, x):
        y, main = torch.empty_like(x), torch.cuda.current_stream()
        self.begun.record(main)
        self.side.wait_event(self.begun)
        with torch.cuda.stream(self.side):
            torch.softmax(x, dim=-1, out=y)
        self.done.record(self.side)
        main.wait_event(self.done)
        return y
