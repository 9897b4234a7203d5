"""D5: opens the judge's own files, and PyTorch's, to write to them; is wrong where it may."""

import contextlib
from pathlib import Path

import torch

import kernwright

ZOO = {
    "row": "D5",
    "problem": "softmax",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["suspicious"],
    "contained_ok": True,
    "destructive": True,
}
_opened = []
for _package in (kernwright, torch):
    for _path in [*Path(_package.__file__).parent.glob("*.py"), *Path(_package.__file__).parent.glob("*/*.py")]:
        with contextlib.suppress(OSError), _path.open("r+b"):
            _opened.append(_path)
        with contextlib.suppress(OSError):
            Path(f"{_path}.new").touch(exist_ok=False)
            _opened.append(_path)
            Path(f"{_path}.new").unlink()


def kernel(x):
    return x * 0 if _opened else torch.softmax(x, dim=-1)
