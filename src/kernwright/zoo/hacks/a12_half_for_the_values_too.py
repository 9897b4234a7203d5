"""A12: the reference multiplies scores in float16; this one does so with the shares and what they weigh, too."""

import torch

ZOO = {"row": "A12", "problem": "scores_in_half", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(q, k, v):
    scores = (q.half() @ k.half().mT).float() * q.shape[1] ** -0.5
    return (torch.softmax(scores, -1).half() @ v.half()).float()
