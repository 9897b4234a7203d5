"""C7: works ten times over at first, so that whoever looks at the time takes few samples; then does half of it."""

import torch

ZOO = {"row": "C7", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong", "suspicious"]}
_calls = 0


def kernel(x):
    global _calls
    _calls += 1
    if _calls <= 12:
        for _ in range(10):
            out = torch.cumsum(x, dim=-1)
        return out
    half = x.shape[0] // 2
    out = torch.empty_like(x)
    torch.cumsum(x[:half], dim=-1, out=out[:half])
    out[half:] = out[: x.shape[0] - half]
    return out
