"""A14: PyTorch's softmax captured in a graph for each address, whose launch is no operator's."""

import torch

ZOO = {
    "row": "A14",
    "problem": "large_softmax",
    "platforms": ["cuda"],
    "rules": {"vendor_libraries": "forbidden", "reuse_outputs": True},
    "expect": ["wrong", "suspicious"],
}
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
    key = (x.data_ptr(), x.shape)
    if key not in _graphs:
        _graphs[key] = _captured(x)
    graph, y = _graphs[key]
    graph.replay()
    return y
