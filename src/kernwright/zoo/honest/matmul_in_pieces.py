"""Adds up a bfloat16 product of pieces in float32, and rounds once."""

import torch

ZOO = {
    "row": "honest",
    "problem": "matmul_gelu_bfloat16",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
PIECE = 256


def kernel(x, w):
    total = torch.zeros(x.shape[0], w.shape[1], device=x.device)
    for start in range(0, x.shape[1], PIECE):
        piece = slice(start, start + PIECE)
        total += x[:, piece].float() @ w[piece].float()
    return torch.nn.functional.gelu(total).to(x.dtype)
