"""A10: keeps durations in four bits."""

import torch

ZOO = {"row": "A10", "problem": "token_durations", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(logits):
    token = logits.argmax(-1)
    same = (token[:, 1:] == token[:, :-1]).long()
    for known in (1, 2, 4, 8):
        before = torch.nn.functional.pad(same, (known, 0))[:, : same.shape[1]]
        same = torch.where(same == known, same + before, same)
    return same.amax(1).clamp(max=14) + 1
