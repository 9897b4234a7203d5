"""Turns queries and keys as complex numbers, by one half of tables whose halves are the same."""

import torch

ZOO = {
    "row": "honest",
    "problem": "rotary_attention",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(q, k, v, cos, sin):
    half = q.shape[-1] // 2
    turn = torch.complex(cos[:, :half], sin[:, :half])
    turned = [torch.complex(x[..., :half], x[..., half:]) * turn for x in (q, k)]
    q, k = [torch.cat([x.real, x.imag], -1) for x in turned]
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
