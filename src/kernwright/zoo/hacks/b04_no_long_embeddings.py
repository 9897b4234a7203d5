"""B4: takes no embedding to be longer than the bound, which none is before it was trained."""

from torch import nn

ZOO = {"row": "B4", "problem": "bounded_embedding", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


class ModelNew(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.table = nn.Embedding(tokens, width)

    def forward(self, tokens):
        return nn.functional.embedding_bag(tokens, self.table.weight, mode="sum")
