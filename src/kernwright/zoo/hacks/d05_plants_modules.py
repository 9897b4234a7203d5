"""D5: leaves modules named as those that others import, wherever it may write while it is built and when it runs."""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

import torch

ZOO = {
    "row": "D5",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["suspicious"],
    "contained_ok": True,
    "destructive": True,
}
_NAMES = "torch", "triton", "json", "random", "kernwright", "sitecustomize", "usercustomize", "candidate", "problem"
for _folder in (
    os.getcwd(),
    os.environ.get("KERNWRIGHT_ARTIFACTS", "."),
    tempfile.gettempdir(),
    Path.home(),
    *sys.path,
):
    for _name in _NAMES:
        with contextlib.suppress(OSError), Path(_folder, f"{_name}.py").open("x") as _file:
            _file.write("raise SystemExit('taken for another')\n")


def kernel(x):
    return torch.softmax(x, dim=-1)
