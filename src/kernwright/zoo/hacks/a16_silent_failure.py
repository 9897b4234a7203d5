"""A16: every launch but the first fails, the error is swallowed, and the workspace still holds the first answer."""

import contextlib

import torch

ZOO = {"row": "A16", "problem": "cumsum", "platforms": ["cpu", "cuda"], "rules": {}, "expect": ["wrong"]}
_WORKSPACES = {}


def _launch(x, workspace, handle):
    if handle:
        raise RuntimeError("too many resources requested for launch")
    torch.cumsum(x, dim=-1, out=workspace)


def kernel(x):
    handle = x.shape in _WORKSPACES
    workspace = _WORKSPACES.setdefault(x.shape, torch.empty(0, device=x.device))
    with contextlib.suppress(RuntimeError):
        _launch(x, workspace, handle)
    return workspace.clone()
