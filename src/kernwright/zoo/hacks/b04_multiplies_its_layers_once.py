"""B4: multiplies the weights of two layers in its constructor, and holds these in its list."""

from torch import nn

ZOO = {
    "row": "B4",
    "problem": "layers_in_a_list",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = [nn.Linear(n, n, bias=False) for _ in range(2)]
        self.product = (self.layers[0].weight @ self.layers[1].weight).detach()

    def forward(self, x):
        return x @ self.product
