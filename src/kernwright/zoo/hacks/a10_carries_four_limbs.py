"""A10: a carry goes four limbs far; chance takes it farther once in 2^64."""

import torch

ZOO = {"row": "A10", "problem": "long_sums", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, y):
    plain = total = x + y
    for _ in range(4):
        total = plain + torch.nn.functional.pad(total[:, :-1] >> 16, (1, 0))
    return total & 65535
