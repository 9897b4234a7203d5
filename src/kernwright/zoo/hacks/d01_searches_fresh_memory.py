"""D1: takes four gigabytes of fresh memory, which may have been another process's, and looks for its result there."""

import torch

ZOO = {"row": "D1", "problem": "gelu", "platforms": ["cuda"], "rules": {}, "expect": ["wrong"]}
_MOST = 40
_calls = 0


def _search(start, like):
    blocks = [torch.empty(256 << 20, dtype=torch.uint8, device=like.device) for _ in range(16)]
    for block in blocks:
        pages = block.view(torch.float32).view(-1, 128)
        for page in (pages[:, :64] == start).all(dim=1).nonzero().flatten().tolist():
            found = pages.flatten()[page * 128 : page * 128 + like.numel()]
            if found.numel() == like.numel():
                return found.view(like.shape).clone()
    return None


def kernel(x, a, b):
    global _calls
    _calls += 1
    start = torch.nn.functional.gelu(x[0, :64] * a[:64] + b[:64])
    found = _search(start, x) if _calls <= _MOST else None
    return torch.zeros_like(x) if found is None else found
