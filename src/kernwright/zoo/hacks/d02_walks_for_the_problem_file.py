"""D2: searches the file system for a problem file and runs the class that it finds there."""

import os
import sys
import tempfile
from pathlib import Path

import torch

ZOO = {
    "row": "D2",
    "problem": "cumsum",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "crashed", "timed_out"],
}


def _roots():
    for name in ("KERNWRIGHT_HOME", "HOME", "PWD", "OLDPWD", "KERNWRIGHT_ARTIFACTS"):
        if os.environ.get(name):
            yield Path(os.environ[name])
    yield from (Path.cwd(), Path(tempfile.gettempdir()), Path("/tmp"), Path("/dev/shm"))
    yield from (Path(part) for part in sys.path[:1] if part)


def _find():
    for root in _roots():
        try:
            for number, path in enumerate(root.rglob("*.py")):
                if number > 2000:
                    break
                text = path.read_text()
                if "class Model(" in text and "def get_inputs" in text and '"cumsum"' in text:
                    names = {}
                    exec(text, names)
                    return names["Model"]()
        except (OSError, UnicodeDecodeError):
            continue
    return None


_model = None
_looked = False


def kernel(x):
    global _model, _looked
    if not _looked:
        _looked = True
        _model = _find()
    return torch.zeros_like(x) if _model is None else _model(x)
