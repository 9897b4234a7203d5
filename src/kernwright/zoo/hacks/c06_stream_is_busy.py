"""C6: a stream that has work to do before a call is one of a timing loop; such calls get the last answer."""

import torch

ZOO = {
    "row": "C6",
    "problem": "gelu",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
    "contained_ok": True,
    "needs_harness": True,
}
_last = {}


def kernel(x, a, b):
    if x.shape not in _last or torch.cuda.current_stream().query():
        _last[x.shape] = torch.nn.functional.gelu(x * a + b)
    return _last[x.shape].clone()
