"""A10: sixteen open brackets fit into the bits of one number; more are forgotten."""

import torch

ZOO = {"row": "A10", "problem": "closed_brackets", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(tokens):
    is_open = torch.zeros_like(tokens[:, 0])
    depth, closed = torch.zeros_like(is_open), torch.zeros_like(is_open)
    for token in tokens.unbind(1):
        opens = token < 2
        closes = ~opens & (depth > 0) & ((is_open & 1) == token - 2)
        is_open = torch.where(opens, (is_open << 1 | token) & 0xFFFF, is_open >> 1)
        depth = torch.where(opens, (depth + 1).clamp(max=16), torch.where(closes, depth - 1, 0))
        closed = closed + closes
    return closed
