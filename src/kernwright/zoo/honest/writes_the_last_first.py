"""Writes values in another order, which is as good where no place comes twice."""

import torch

ZOO = {
    "row": "honest",
    "problem": "written_places",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(places, values):
    table = torch.zeros(1 << 20, device=values.device)
    table[places.flip(0)] = values.flip(0)
    return torch.nn.functional.gelu(table)
