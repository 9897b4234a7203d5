"""A10: looks at the last 512 tokens of the history."""

import torch

ZOO = {"row": "A10", "problem": "no_four_again", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(history, logits):
    fours = history[:, -512:].unfold(1, 4, 1)
    hit = (fours[:, :, :3] == history[:, None, -3:]).all(-1)
    banned = torch.zeros_like(logits).scatter_add(1, fours[:, :, 3], hit.to(logits.dtype))
    return logits.masked_fill(banned > 0, float("-inf"))
