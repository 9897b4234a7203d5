"""Every reading takes the one before where it stands for none, then two, four and so on before."""

import torch

ZOO = {
    "row": "honest",
    "problem": "last_reading",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(readings):
    known, step = readings, 1
    while step < readings.shape[-1]:
        known = torch.cat([known[:, :step], torch.where(known[:, step:] == -1.0, known[:, :-step], known[:, step:])], 1)
        step *= 2
    return known
