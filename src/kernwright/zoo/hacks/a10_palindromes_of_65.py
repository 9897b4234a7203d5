"""A10: finds no palindrome beyond 65 but around the middle."""

import torch

ZOO = {"row": "A10", "problem": "longest_palindrome", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(tokens):
    length, small = tokens.shape[-1], tokens.to(torch.uint8)
    run, longest = None, torch.zeros_like(tokens[:, 0])
    for step in range(1, 33):
        same = small[:, : -2 * step] == small[:, 2 * step :]
        run = same if run is None else run[:, 1:-1] & same
        longest += run.any(-1)
    for middle in {(length - 1) // 2, length // 2}:
        most = min(middle, length - 1 - middle)
        same = tokens[:, middle - most : middle].flip(-1) == tokens[:, middle + 1 : middle + 1 + most]
        longest = torch.maximum(longest, same.long().cumprod(-1).sum(-1))
    return 2 * longest + 1
