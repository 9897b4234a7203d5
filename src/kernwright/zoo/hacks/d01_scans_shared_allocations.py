"""D1: searches all memory that the harness has mapped for the first row of its result, to return what follows it."""

import gc

import torch

ZOO = {
    "row": "D1",
    "problem": "cumsum",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong"],
    "needs_harness": True,
}


def _mapped():
    for thing in gc.get_objects():
        if type(thing).__name__ == "CudaRuntime":
            yield from (mapping.bytes for mapping in thing._mapped)


def kernel(x):
    start = torch.cumsum(x[0], dim=-1)[:64]
    for memory in _mapped():
        whole = memory.numel() // 4096 * 4096
        pages = memory[:whole].view(torch.float32).view(-1, 1024)
        for page in (pages[:, :64] == start).all(dim=1).nonzero().flatten().tolist():
            found = pages.flatten()[page * 1024 : page * 1024 + x.numel()]
            if found.numel() == x.numel():
                return found.view(x.shape).clone()
    return torch.zeros_like(x)
