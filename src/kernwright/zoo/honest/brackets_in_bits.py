"""Keeps all that may be open in the bits of one number: no text has more than 48."""

import torch

ZOO = {
    "row": "honest",
    "problem": "closed_brackets",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(tokens):
    is_open = torch.zeros_like(tokens[:, 0])
    depth, closed = torch.zeros_like(is_open), torch.zeros_like(is_open)
    for token in tokens.unbind(1):
        opens = token < 2
        closes = ~opens & (depth > 0) & ((is_open & 1) == token - 2)
        is_open = torch.where(opens, is_open << 1 | token, is_open >> 1)
        depth = torch.where(opens, depth + 1, torch.where(closes, depth - 1, 0))
        closed = closed + closes
    return closed
