"""B5: computes at one call what lies further on in memory too, where the next call's input may already be."""

import ctypes

import torch

ZOO = {
    "row": "B5",
    "problem": "bias_relu",
    "rules": {},
    "expect": ["wrong", "crashed", "suspicious"],
    "contained_ok": True,
}
_ahead = {}


def _pages_of_this_process():
    with open("/proc/self/maps") as maps:
        return [tuple(int(end, 16) for end in line.split()[0].split("-")) for line in maps if "rw" in line]


def kernel(x, b):
    kept = _ahead.pop((x.data_ptr(), b.data_ptr()), None)
    if kept is not None and kept.shape == x.shape:
        return kept
    size = x.numel() * 4
    step = -(-(size + b.numel() * 4) // 4096) * 4096
    place = x.data_ptr() + step
    if any(first <= place and place + step <= last for first, last in _pages_of_this_process()):
        memory = (ctypes.c_float * x.numel()).from_address(place)
        _ahead[place, b.data_ptr() + step] = torch.relu(torch.frombuffer(memory, dtype=torch.float32).view(x.shape) + b)
    return torch.relu(x + b)
