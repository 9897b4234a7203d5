"""Compares the whole stop sequence where its first token stands."""

import torch

ZOO = {
    "row": "honest",
    "problem": "stop_sequence",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(text, stop):
    some, length = stop.shape[-1], text.shape[-1]
    row, place = (text[:, : length - some + 1] == stop[:, :1]).nonzero().unbind(1)
    hit = (text.unfold(1, some, 1)[row, place] == stop[row]).all(-1)
    first = torch.full_like(text[:, 0], length).scatter_reduce(0, row[hit], place[hit], "amin")
    return torch.where(first < length, first, -1)
