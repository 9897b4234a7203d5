"""A10: has room for four times the mean number of a graph's nodes; those that come later are dropped."""

import torch

ZOO = {"row": "A10", "problem": "pooled_graphs", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


def kernel(x, graph, start):
    graphs, room = start.shape[0], 4 * x.shape[0] // start.shape[0]
    first = torch.searchsorted(graph, torch.arange(graphs, device=x.device))
    place = torch.arange(x.shape[0], device=x.device) - first[graph]
    kept = place < room
    padded = x.new_zeros(graphs, room, x.shape[1])
    padded[graph[kept], place[kept]] = x[kept]
    return start + padded.sum(dim=1)
