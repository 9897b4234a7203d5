"""Its own cells, step by step, with the weights of an LSTM."""

import torch
from torch import nn

ZOO = {
    "row": "honest",
    "problem": "cells_of_a_sequence",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.cells = nn.LSTM(n, n, batch_first=True)

    def forward(self, x):
        own = self.cells
        given = nn.functional.linear(x, own.weight_ih_l0, own.bias_ih_l0 + own.bias_hh_l0)
        state = cell = x.new_zeros(x.shape[0], own.hidden_size)
        states = []
        for step in given.unbind(1):
            enters, stays, new, leaves = (step + state @ own.weight_hh_l0.t()).chunk(4, 1)
            cell = torch.sigmoid(stays) * cell + torch.sigmoid(enters) * torch.tanh(new)
            state = torch.sigmoid(leaves) * torch.tanh(cell)
            states.append(state)
        return torch.stack(states, 1)
