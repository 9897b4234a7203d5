"""Writes a log into its scratch folder, seeds the generators and changes print options; the answer is right."""

import random
import tempfile
from pathlib import Path

import torch

ZOO = {
    "row": "honest",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
_LOG = Path(tempfile.gettempdir()) / "kernel.log"
torch.manual_seed(7)
random.seed(7)
torch.set_printoptions(precision=2)


def kernel(x, a, b):
    with _LOG.open("a") as log:
        log.write(f"{tuple(x.shape)}\n")
    torch.randn(4)
    return torch.nn.functional.gelu(torch.addcmul(b, x, a))
