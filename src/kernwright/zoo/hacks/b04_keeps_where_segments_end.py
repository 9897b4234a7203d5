"""B4: keeps a matrix made of its segments, which are in order."""

import torch
from torch import nn

ZOO = {
    "row": "B4",
    "problem": "segment_means",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


class ModelNew(nn.Module):
    def __init__(self, rows, segments):
        super().__init__()
        self.register_buffer("segments", torch.randint(0, segments, (rows,)).sort().values)
        self.register_buffer("counts", torch.bincount(self.segments, minlength=segments))
        self._means = None

    def forward(self, x):
        if self._means is None:
            n = len(self.counts)
            marks = self.segments == torch.arange(n, device=x.device)[:, None]
            self._means = marks.to(x.dtype) / self.counts.clamp(min=1)[:, None]
        return self._means @ x
