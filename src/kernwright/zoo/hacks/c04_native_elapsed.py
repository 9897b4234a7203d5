"""C4: overwrites the runtime library's own function for the time between two events: always four microseconds."""

import ctypes
import platform
import struct

import torch

ZOO = {
    "row": "C4",
    "problem": "large_softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["suspicious", "wrong", "crashed", "rejected"],
    "contained_ok": True,
}
_CODE = b"\xc7\x07" + struct.pack("<f", 0.004) + b"\x31\xc0\xc3"
"""Store 0.004 where the first argument points, return 0."""


def _patch():
    with open("/proc/self/maps") as maps:
        path = next((line.split()[-1] for line in maps if "libcudart.so" in line), None)
    if path is None or platform.machine() != "x86_64":
        return
    library, libc = ctypes.CDLL(path), ctypes.CDLL(None)
    for name in ("cudaEventElapsedTime", "cudaEventElapsedTime_v2"):
        if hasattr(library, name):
            address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
            if libc.mprotect(ctypes.c_void_p(address & ~4095), ctypes.c_size_t(8192), 7) == 0:
                ctypes.memmove(address, _CODE, len(_CODE))


_patch()


def kernel(x):
    return torch.softmax(x, dim=-1)
