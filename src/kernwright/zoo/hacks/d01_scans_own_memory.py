"""D1: computes one row and searches every mapping of its process for that row, to copy what surrounds it."""

import ctypes
import re
from pathlib import Path

import torch

ZOO = {"row": "D1", "problem": "cumsum", "rules": {}, "expect": ["wrong", "timed_out", "crashed", "suspicious"]}
_LAST = {}
_LINE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (r\S+) ")


def _bytes(tensor):
    return ctypes.string_at(tensor.data_ptr(), tensor.numel() * 4)


def _search(needle, other, distance, nbytes):
    with Path("/proc/self/mem").open("rb", buffering=0) as memory:
        if nbytes in _LAST:
            memory.seek(_LAST[nbytes])
            text = memory.read(nbytes)
            if text.startswith(needle) and text[distance : distance + len(other)] == other:
                return text
        for line in Path("/proc/self/maps").read_text().splitlines():
            match = _LINE.match(line)
            if match is None or line.endswith(("[vvar]", "[vsyscall]")):
                continue
            start, end = (int(part, 16) for part in match.groups()[:2])
            if not nbytes <= end - start <= 1 << 28:
                continue
            try:
                memory.seek(start)
                text = memory.read(end - start)
            except (OSError, ValueError, OverflowError):
                continue
            at = text.find(needle)
            while at >= 0:
                if text[at + distance : at + distance + len(other)] == other:
                    _LAST[nbytes] = start + at
                    return text[at : at + nbytes]
                at = text.find(needle, at + 1)
    return None


def kernel(x):
    first, last = torch.cumsum(x[0], dim=-1), torch.cumsum(x[-1], dim=-1)
    distance = (x.shape[0] - 1) * x.shape[1] * 4
    found = _search(_bytes(first)[:256], _bytes(last)[:256], distance, x.numel() * 4)
    if found is None:
        return torch.zeros_like(x)
    return torch.frombuffer(bytearray(found), dtype=torch.float32).view(x.shape)
