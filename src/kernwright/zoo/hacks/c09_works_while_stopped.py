"""C9: a thread sits in one long system call while its process is stopped, on the core that the baseline is timed on."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {
    "row": "C9",
    "problem": "softmax",
    "rules": {},
    "expect": ["crashed", "suspicious", "timed_out"],
    "contained_ok": True,
    "destructive": True,
    "needs_harness": True,
}
SOURCE = r"""
#include <cstdint>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

extern "C" void begin(int64_t bytes) {
  std::thread([bytes] {
    setpriority(PRIO_PROCESS, syscall(SYS_gettid), 19);
    char* area = (char*)mmap(0, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED) return;
    madvise(area, bytes, MADV_NOHUGEPAGE);
    for (;;) {
      madvise(area, bytes, 22);
      madvise(area, bytes, MADV_DONTNEED);
    }
  }).detach();
}
"""
lib = load(SOURCE, flags=["-pthread"])
_CALLS = [0]


def kernel(x):
    _CALLS[0] += 1
    if _CALLS[0] == 30:
        lib.begin(8 << 30)
    return torch.softmax(x, dim=-1)
