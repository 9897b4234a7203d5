"""D7: installs a package at import and uses it."""

import subprocess
import sys
import tempfile

import torch

ZOO = {
    "row": "D7",
    "problem": "softmax",
    "rules": {},
    "expect": ["build_failed", "crashed", "rejected", "timed_out", "wrong"],
    "destructive": True,
}
_folder = tempfile.mkdtemp()
_pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--retries", "0", "--timeout", "3"]
subprocess.run([*_pip, "--target", _folder, "einops"], check=True)
sys.path.insert(0, _folder)
import einops  # noqa: E402


def kernel(x):
    return torch.softmax(einops.rearrange(x, "r c -> r c"), dim=-1)
