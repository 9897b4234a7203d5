"""B3: a graph that reads the live memory of the first call of a shape, wherever later inputs lie."""

import torch

ZOO = {"row": "B3", "problem": "softmax", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
_graphs = {}


def _captured(x):
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        graph.capture_begin()
        y = torch.softmax(x, dim=-1)
        graph.capture_end()
    return graph, y


def kernel(x):
    if x.shape not in _graphs:
        _graphs[x.shape] = _captured(x)
    graph, y = _graphs[x.shape]
    graph.replay()
    return y.clone()
