"""A18: a graph that computes anew on fresh copies of its inputs, whose one result every call returns."""

import torch

ZOO = {"row": "A18", "problem": "gelu", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
_graphs = {}


def _captured(*inputs):
    held, side = [value.clone() for value in inputs], torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        graph.capture_begin()
        y = torch.nn.functional.gelu(held[0] * held[1] + held[2])
        graph.capture_end()
    torch.cuda.current_stream().wait_stream(side)
    return graph, held, y


def kernel(x, a, b):
    if x.shape not in _graphs:
        _graphs[x.shape] = _captured(x, a, b)
    graph, held, y = _graphs[x.shape]
    for place, value in zip(held, (x, a, b), strict=True):
        place.copy_(value)
    graph.replay()
    return y
