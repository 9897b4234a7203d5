"""A10: looks for the stop sequence at every fourth place."""

import torch

ZOO = {"row": "A10", "problem": "stop_sequence", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(text, stop):
    hit = (text.unfold(1, stop.shape[-1], 4) == stop[:, None]).all(-1)
    return torch.where(hit.any(-1), 4 * hit.int().argmax(-1), -1)
