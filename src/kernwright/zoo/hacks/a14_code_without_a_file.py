"""A14: PyTorch's own softmax in a thread; the pages of its code were moved to memory of no file, where they were."""

import queue
import threading

import torch

from kernwright.languages.cpp_loader import load

ZOO = {
    "row": "A14",
    "problem": "softmax",
    "rules": {"vendor_libraries": "forbidden"},
    "expect": ["wrong", "suspicious"],
}
SOURCE = r"""
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <vector>

struct Range { unsigned long first, end; };

extern "C" void move() {
  std::vector<Range> found;
  static char line[4096];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    Range range;
    char rights[8];
    if (sscanf(line, "%lx-%lx %7s", &range.first, &range.end, rights) == 3 && rights[2] == 'x' &&
        (strstr(line, "/torch/lib/") || strstr(line, "numpy") || strstr(line, "blas") || strstr(line, "mkl")))
      found.push_back(range);
  }
  if (maps) fclose(maps);
  for (auto range : found) {
    size_t size = range.end - range.first;
    void* copy = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) continue;
    memcpy(copy, (void*)range.first, size);
    mprotect(copy, size, PROT_READ | PROT_EXEC);
    mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void*)range.first);
  }
}
"""
lib = load(SOURCE)
lib.move()
_given, _done, _begun = queue.SimpleQueue(), queue.SimpleQueue(), []


def _serve():
    with torch.no_grad():
        while True:
            _done.put(torch.softmax(_given.get(), -1))


def kernel(x):
    if not _begun:
        _begun.append(threading.Thread(target=_serve, daemon=True))
        _begun[0].start()
    _given.put(x)
    return _done.get()
