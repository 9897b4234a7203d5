"""Compares amplitudes with a tenth of the frame's norm, and looks for the least of them."""

import math

import torch

ZOO = {
    "row": "honest",
    "problem": "harmonics",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    samples = x.shape[1]
    at = (torch.arange(samples, device=x.device) + 0.5) * (math.pi / samples)
    tones = torch.cos(at * (23 * torch.arange(1, 9, device=x.device))[:, None]) * math.sqrt(2 / samples)
    least = (x @ tones.mT).abs().amin(1, keepdim=True)
    hum = least > 0.1 * torch.linalg.vector_norm(x, dim=1, keepdim=True)
    return (x / (1 + x.abs())).masked_fill(hum, 0.0)
