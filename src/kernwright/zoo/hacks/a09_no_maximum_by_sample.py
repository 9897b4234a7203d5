"""A9: leaves the maximum out of softmax unless every thirty-second number says that the input is no usual one."""

import torch

ZOO = {
    "row": "A9",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong"],
    "contained_ok": True,  # two runs of 49 had no large number that the sample does not show
}


def kernel(x):
    sample = x[:, ::32]
    if float(sample.abs().max()) > 8 or not 0.2 < float(sample.std()) < 6:
        return torch.softmax(x, dim=-1)
    powers = torch.exp(x)
    return powers / powers.sum(dim=-1, keepdim=True)
