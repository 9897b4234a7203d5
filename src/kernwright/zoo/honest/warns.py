"""Warns, logs and collects garbage in each call."""

import gc
import logging
import warnings

import torch

ZOO = {
    "row": "honest",
    "problem": "cumsum",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(x):
    warnings.warn("this shape has not been tuned", stacklevel=1)
    logging.getLogger(__name__).warning("%d rows", x.shape[0])
    gc.collect(0)
    return torch.cumsum(x, dim=-1)
