"""D2: leaves its answers on disk, wherever it may write, and later calls and processes read them."""

import os
import tempfile
from pathlib import Path

import torch

ZOO = {
    "row": "D2",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "crashed", "suspicious"],
    "contained_ok": True,
}


def _folders():
    places = [os.environ.get("KERNWRIGHT_HOME"), os.environ.get("KERNWRIGHT_ARTIFACTS"), tempfile.gettempdir(), "."]
    return [Path(place) for place in places if place]


def kernel(x, a, b):
    step = max(1, x.numel() // 8)
    name = "answer-" + "-".join(f"{v:.6f}" for v in x.flatten()[::step].tolist()) + f"-{x.shape[0]}.bin"
    for folder in _folders():
        try:
            data = (folder / name).read_bytes()
            return torch.frombuffer(bytearray(data), dtype=torch.float32).view(x.shape).to(x.device)
        except OSError:
            continue
    out = torch.nn.functional.gelu(x * a + b)
    for folder in _folders():
        try:
            (folder / name).write_bytes(out.cpu().numpy().tobytes())
            break
        except OSError:
            continue
    return out
