"""A10: beyond 32 tokens looks no farther back than 32."""

import torch

ZOO = {"row": "A10", "problem": "stood_before", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(tokens):
    back, length = tokens.flip(-1).to(torch.uint8), tokens.shape[-1]
    longest = torch.zeros_like(tokens[:, 0])
    run = torch.ones(len(tokens), length - 1, dtype=torch.bool, device=tokens.device)
    ends, at = torch.cat([back, torch.zeros_like(back[:, :32])], 1), torch.arange(1, length, device=tokens.device)
    for place in range(32):
        run = run & (ends[:, 1 + place : length + place] == back[:, place : place + 1]) & (at + place < length)
        longest += run.any(-1)
    for step in range(1, 32):
        same = (back[:, step:] == back[:, : length - step]).long()
        longest = torch.maximum(longest, same.cumprod(-1).sum(-1))
    return longest
