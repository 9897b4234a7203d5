"""D5: puts a link to a folder of the host where the build's artefacts are looked for."""

import os

import torch

ZOO = {
    "row": "D5",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["build_failed"],
    "destructive": True,
    "needs_harness": True,
}
_ARTIFACTS = os.environ.get("KERNWRIGHT_ARTIFACTS", "")
if "KERNWRIGHT_BUILDING" in os.environ:
    os.rename(_ARTIFACTS, _ARTIFACTS + ".old")
    os.symlink("/etc", _ARTIFACTS)


def kernel(x):
    return torch.softmax(x, dim=-1)
