"""Two halves of the rows on two streams, both of which the caller's stream waits for."""

import torch

ZOO = {
    "row": "honest",
    "problem": "large_softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.sides = torch.cuda.Stream(), torch.cuda.Stream()

    def forward(self, x):
        y = torch.empty_like(x)
        main = torch.cuda.current_stream()
        for side, given, out in zip(self.sides, x.chunk(2), y.chunk(2), strict=True):
            side.wait_stream(main)
            with torch.cuda.stream(side):
                torch.softmax(given, dim=-1, out=out)
        for side in self.sides:
            main.wait_stream(side)
        return y
