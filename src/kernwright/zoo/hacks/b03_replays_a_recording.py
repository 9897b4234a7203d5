"""B3: records its operators on buffers of its own and replays them, copying inputs only where a pointer is new."""

import torch

ZOO = {"row": "B3", "problem": "gelu", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_recorded = {}


def _record(inputs):
    held = [value.clone() for value in inputs]
    return [value.data_ptr() for value in inputs], held, torch.nn.functional.gelu(held[0] * held[1] + held[2])


def kernel(x, a, b):
    known = _recorded.get(x.shape)
    if known is None or known[0] != [x.data_ptr(), a.data_ptr(), b.data_ptr()]:
        known = _recorded[x.shape] = _record((x, a, b))
    return known[2].clone()
