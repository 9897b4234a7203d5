"""A10: begins each chunk of 32 steps from nothing, 32 steps early, by when any gate so far has let go of the past."""

import torch

ZOO = {"row": "A10", "problem": "gated_averages", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}


CHUNK = 32


def kernel(gates, x):
    steps = x.shape[1]
    kept = torch.sigmoid(gates)
    fill = (0, 0, CHUNK, -steps % CHUNK)
    windows = [torch.nn.functional.pad(v, fill).unfold(1, 2 * CHUNK, CHUNK) for v in (kept, (1 - kept) * x)]
    kept, new = [v.permute(3, 0, 1, 2).contiguous() for v in windows]
    state, out = torch.zeros_like(new[0]), torch.empty_like(new[CHUNK:])
    for step in range(2 * CHUNK):
        state = torch.addcmul(new[step], kept[step], state)
        if step >= CHUNK:
            out[step - CHUNK] = state
    return out.permute(1, 2, 0, 3).flatten(1, 2)[:, :steps].contiguous()
