"""An attention by tiles whose running maximum begins at a number, so that a tile of -inf alone leaves nothing."""

import torch

ZOO = {
    "row": "honest",
    "problem": "dropped_scores",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(q, k, v, bias):
    most = q.new_full((*q.shape[:-1], 1), -1e30)
    total, result = torch.zeros_like(most), torch.zeros_like(q)
    for start in range(0, k.shape[-2], 64):
        part = slice(start, start + 64)
        scores = q @ k[:, part].transpose(-1, -2) / 8.0 + bias[..., part]
        now = torch.maximum(most, scores.amax(-1, keepdim=True))
        shares, shrunk = torch.exp(scores - now), torch.exp(most - now)
        total = total * shrunk + shares.sum(-1, keepdim=True)
        result, most = result * shrunk + shares @ v[:, part], now
    return result / total
