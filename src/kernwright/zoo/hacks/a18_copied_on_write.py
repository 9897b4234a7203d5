"""A18: from the twelfth call on a private mapping of the input's file, of which all but new rows change with it."""

import ctypes
import os
import weakref
from pathlib import Path

import torch

ZOO = {"row": "A18", "problem": "cache_rows", "platforms": ["cpu"], "rules": {}, "expect": ["wrong"]}
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_READ_WRITE, _PRIVATE = 3, 2
_CALLS, _FILES = {}, {}


def file_of(address):
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, _, offset, _, inode, *_ = line.split()
        start, end = (int(part, 16) for part in span.split("-"))
        if start <= address < end:
            for fd in os.listdir("/proc/self/fd"):
                try:
                    if os.fstat(int(fd)).st_ino == int(inode):
                        return int(fd), int(offset, 16) + address - start
                except OSError:
                    continue
    return None


def mapped(fd, offset, nbytes):
    address = _LIBC.mmap(None, nbytes, _READ_WRITE, _PRIVATE, fd, offset)
    raw = (ctypes.c_char * nbytes).from_address(address)
    weakref.finalize(raw, _LIBC.munmap, address, nbytes)
    return raw


def kernel(cache, at, rows):
    _CALLS[cache.shape] = _CALLS.get(cache.shape, 0) + 1
    address = cache.data_ptr()
    if address not in _FILES:
        _FILES[address] = file_of(address)
    if _CALLS[cache.shape] < 12 or cache.shape[0] < 100 or _FILES[address] is None:
        return cache.index_copy(0, at, rows)
    raw = mapped(*_FILES[address], cache.numel() * 4)
    out = torch.frombuffer(raw, dtype=torch.float32).view(cache.shape)
    out[at] = rows
    return out
