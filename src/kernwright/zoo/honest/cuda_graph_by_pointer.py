"""A CUDA graph for each address, which computes from whatever lies there at the time."""

import torch

ZOO = {"row": "honest", "problem": "softmax", "platforms": ["cuda"], "rules": {}, "expect": ["measured", "verified"]}
_graphs = {}


def _captured(x):
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        graph.capture_begin()
        y = torch.softmax(x, dim=-1)
        graph.capture_end()
    torch.cuda.current_stream().wait_stream(side)
    return graph, y


def kernel(x):
    key = (x.data_ptr(), x.shape)
    if key not in _graphs:
        _graphs[key] = _captured(x)
    graph, y = _graphs[key]
    graph.replay()
    return y.clone()
