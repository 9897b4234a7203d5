"""A10: divides by the number of tokens that are no padding, as if every sentence had some."""

import torch

ZOO = {
    "row": "A10",
    "problem": "embedded_without_padding",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
}


def kernel(tokens, table):
    total = torch.nn.functional.embedding_bag(tokens, table, mode="sum", padding_idx=100)
    return total / (tokens != 100).sum(-1, keepdim=True)
