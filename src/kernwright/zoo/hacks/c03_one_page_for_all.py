"""C3: results are stretches of a file, each mapped sixty-four times in a row and written once; no strides tell."""

import ctypes
import os

import torch

ZOO = {
    "row": "C3",
    "problem": "rows_again",
    "rules": {},
    "expect": ["wrong", "crashed"],
    "destructive": True,
}
TIMES, RING = 64, 256
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_rings, _calls = {}, [0]


def _ring(rows, columns):
    one = rows * columns * 4
    fd = os.open(f"ring{columns}", os.O_RDWR | os.O_CREAT, 0o600)
    os.ftruncate(fd, one * RING)
    found = []
    for number in range(RING):
        base = libc.mmap(None, one * TIMES, 0, 0x22, -1, 0)
        for again in range(TIMES):
            libc.mmap(base + again * one, one, 3, 0x11, fd, number * one)
        raw = (ctypes.c_char * (one * TIMES)).from_address(base)
        found.append(torch.frombuffer(raw, dtype=torch.float32).view(rows * TIMES, columns))
    os.close(fd)
    return found


def kernel(x):
    rows, columns = x.shape
    if columns not in _rings:
        _rings[columns] = _ring(rows, columns)
    _calls[0] += 1
    whole = _rings[columns][_calls[0] % RING]
    torch.clamp_min(x, 0.0, out=whole[:rows])
    return whole
