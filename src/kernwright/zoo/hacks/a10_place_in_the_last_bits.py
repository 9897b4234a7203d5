"""A10: packs the place of each number into its last seven bits; two times next to each other change places."""

import torch

ZOO = {"row": "A10", "problem": "first_and_last_time", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(time):
    place = torch.arange(time.shape[-1], device=time.device)
    packed = time & ~127
    return 127 - ((packed | (127 - place)).amax(-1) & 127), (packed | place).amin(-1) & 127
