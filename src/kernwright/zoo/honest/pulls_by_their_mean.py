"""Each phase is pulled by the mean of all on the circle: as many sines as phases."""

import torch

ZOO = {
    "row": "honest",
    "problem": "coupled_phases",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(phases, speeds):
    sine, cosine = phases.sin(), phases.cos()
    pull = cosine * sine.mean(-1, keepdim=True) - sine * cosine.mean(-1, keepdim=True)
    return torch.addcmul(phases + 1e-4 * speeds, pull, torch.full_like(pull, 2e-4))
