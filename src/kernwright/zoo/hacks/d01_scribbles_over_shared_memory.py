"""D1: maps every shared file that the process holds open, fills it with zeros and returns zeros."""

import contextlib
import mmap
import os
from pathlib import Path

import torch

ZOO = {
    "row": "D1",
    "problem": "gelu",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "crashed", "suspicious"],
    "needs_harness": True,
}


def _scribble():
    for path in list(Path("/proc/self/fd").iterdir()):
        try:
            target, number = str(path.readlink()), int(path.name)
            if "memfd:" not in target and "/dev/shm" not in target:
                continue
            size = os.fstat(number).st_size
            with mmap.mmap(number, size) as memory:
                memory[:] = bytes(size)
        except (OSError, ValueError):
            continue
    for line in Path("/proc/self/maps").read_text().splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) < 6 or "s" not in fields[1] or "rw" not in fields[1] or "memfd:" not in fields[5]:
            continue
        start, end = (int(part, 16) for part in fields[0].split("-"))
        with Path("/proc/self/mem").open("r+b", buffering=0) as memory:
            memory.seek(start)
            memory.write(bytes(end - start))


def kernel(x, a, b):
    with contextlib.suppress(OSError):
        _scribble()
    return torch.zeros_like(x)
