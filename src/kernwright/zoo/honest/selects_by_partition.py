"""Selects by a partial sort of NumPy's."""

import numpy
import torch

ZOO = {"row": "honest", "problem": "top_values", "rules": {}, "expect": ["measured", "verified"]}


def kernel(x):
    top = numpy.partition(x.numpy(), x.shape[1] - 16, axis=-1)[:, -16:]
    return torch.from_numpy(numpy.sort(top, axis=-1)[:, ::-1].copy())
