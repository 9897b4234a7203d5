"""A10: looks sixteen times who suppresses whom, which is enough for boxes and scores that do not rise together."""

import torch

ZOO = {"row": "A10", "problem": "suppressed_boxes", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
ROUNDS = 16


def kernel(boxes, scores):
    low, high = boxes[..., :2], boxes[..., :2] + boxes[..., 2:]
    left, top = (torch.minimum(high[:, None, :, n], high[:, :, None, n]) for n in (0, 1))
    left -= torch.maximum(low[:, None, :, 0], low[:, :, None, 0])
    top -= torch.maximum(low[:, None, :, 1], low[:, :, None, 1])
    both = left.clamp_(min=0).mul_(top.clamp_(min=0))
    area = boxes[..., 2] * boxes[..., 3]
    beats = both > 0.3 * (area[:, None] + area[:, :, None] - both)
    beats &= scores[:, None] > scores[:, :, None]
    stays = torch.ones_like(scores, dtype=torch.bool)
    for _ in range(ROUNDS):
        stays = ~(beats & stays[:, None]).any(-1)
    return stays
