"""Has as modules of its own what the module has in a list, and goes through them in turn."""

from torch import nn

ZOO = {
    "row": "honest",
    "problem": "layers_in_a_list",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(n, n, bias=False) for _ in range(2))

    def forward(self, x):
        return (x @ self.layers[0].weight) @ self.layers[1].weight
