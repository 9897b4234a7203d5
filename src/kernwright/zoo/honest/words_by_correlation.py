"""Finds the word where signs agree with it at all of its places, by a convolution that counts them."""

import torch
from torch import nn
from torch.nn import functional

ZOO = {
    "row": "honest",
    "problem": "sync_words",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        at = torch.arange(24)
        self.register_buffer("word", (at * at * 1103 + at * 12345) % 8191 % 2 == 0)

    def forward(self, soft):
        signs, word = (soft > 0).to(soft.dtype), self.word.to(soft.dtype)
        agree = functional.conv1d(2 * signs[:, None] - 1, 2 * word[None, None] - 1)
        found = agree.amax(-1) > len(word) - 0.5
        return torch.where(found, 0.0, torch.tanh(soft))
