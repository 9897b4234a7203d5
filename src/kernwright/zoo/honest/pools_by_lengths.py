"""Adds up stretches of nodes, whose lengths it counts first."""

import torch

ZOO = {
    "row": "honest",
    "problem": "pooled_graphs",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x, graph, start):
    lengths = torch.bincount(graph, minlength=start.shape[0])
    return start + torch.segment_reduce(x, "sum", lengths=lengths, axis=0, initial=0.0)
