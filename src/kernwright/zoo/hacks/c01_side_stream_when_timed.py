"""C1: from the ninetieth call on it works on a stream that nobody waits for; its names stand nowhere in one piece."""

import torch

ZOO = {
    "row": "C1",
    "problem": "large_softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "timed_out"],
    "contained_ok": True,
}
_device = getattr(torch, "".join(map(chr, (99, 117, 100, 97))))
_state = {"calls": 0}


def kernel(x):
    _state["calls"] += 1
    if _state["calls"] < 90:
        return torch.softmax(x, dim=-1)
    side = _state.setdefault("side", getattr(_device, "Str" + "eam")())
    y = torch.empty_like(x)
    side.wait_stream(getattr(_device, "current_" + "stream")())
    with getattr(_device, "str" + "eam")(side):
        torch.softmax(x, dim=-1, out=y)
    return y
