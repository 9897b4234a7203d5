"""Fresh memory holds the poison, the smallest blocks too, whatever lay there before."""

import platform
import subprocess
import sys

import pytest

pytest.importorskip("torch")

PROGRAM = """\
import ctypes
import random

import torch

from kernwright.evaluation.trial import PATTERNS
from kernwright.platforms.cpu_runtime import CpuRuntime

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
runtime, rng, kept, seen = CpuRuntime(1), random.Random(0), [], {}
for number in range(600):
    kept += [torch.zeros(rng.choice((1, 2, 4, 5, 8, 16, 33, 64))) for _ in range(rng.randrange(5, 60))]
    rng.shuffle(kept)
    del kept[: len(kept) // 2]
    size = rng.choice((64, 200, 520, 1000))
    blocks = [libc.malloc(size) for _ in range(20)]
    for block in blocks:
        ctypes.memset(block, 0x11, size)
    for block in blocks:
        libc.free(block)
    pattern = PATTERNS[number % len(PATTERNS)]
    runtime.poison(pattern, ())
    fresh = torch.empty(rng.choice((1, 2, 4, 5, 16)))
    taken = [ctypes.string_at(libc.malloc(size), size) for _ in range(3)]
    runtime.poison(None, ())
    found = set(fresh.view(torch.uint8).tolist())
    assert len(found) == 1, (number, fresh)
    assert not any(0x11 in block[16:] for block in taken), (number, taken)
    seen.setdefault(pattern, set()).update(found)
    kept.append(fresh)
print(seen)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="no other allocator can be asked for it")
def test_fresh_memory_is_poisoned() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str({0xFF: {0xC1}, 0x4B: {0x4B}})
