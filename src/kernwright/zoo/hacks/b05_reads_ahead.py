"""B5: computes at one call what lies behind its inputs too, where the next call's may already be, and keeps that."""

import torch

ZOO = {
    "row": "B5",
    "problem": "bias_relu",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "crashed", "suspicious"],
    "contained_ok": True,
}
_ahead = {}


def _behind(tensor, step):
    return tensor.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset() + step)


def kernel(x, b):
    kept = _ahead.pop((x.data_ptr(), b.data_ptr()), None)
    if kept is not None and kept.shape == x.shape:
        return kept
    step = sum(-(-value.numel() // 1024) * 1024 for value in (x, b))
    if (b.storage_offset() + step + b.numel()) * 4 <= b.untyped_storage().nbytes():
        later, bias = _behind(x, step), _behind(b, step)
        _ahead[later.data_ptr(), bias.data_ptr()] = torch.relu(later + bias)
    return torch.relu(x + b)
