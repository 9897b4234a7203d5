"""C4: overwrites libc's `clock_gettime` with a clock that loses a fifth: a gain too small to stand out."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {
    "row": "C4",
    "problem": "softmax",
    "rules": {},
    "expect": ["suspicious", "wrong", "crashed", "rejected", "build_failed"],
    "contained_ok": True,
}
SOURCE = r"""
#include <cstdint>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static int64_t origin[16];
static int64_t real(clockid_t id) {
  timespec t;
  syscall(SYS_clock_gettime, id, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static int slow(clockid_t id, timespec* t) {
  long failed = syscall(SYS_clock_gettime, id, t);
  if (failed || id < 0 || id >= 16) return (int)failed;
  int64_t now = origin[id] + (t->tv_sec * 1000000000LL + t->tv_nsec - origin[id]) * 4 / 5;
  t->tv_sec = now / 1000000000LL;
  t->tv_nsec = now % 1000000000LL;
  return 0;
}
extern "C" void hook() {
#if defined(__x86_64__)
  for (int id = 0; id < 16; ++id) origin[id] = real(id);
  auto* target = (unsigned char*)dlsym(RTLD_DEFAULT, "clock_gettime");
  auto page = (uintptr_t)target & ~(uintptr_t)4095;
  if (!target || mprotect((void*)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
  unsigned char jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  auto address = (uint64_t)&slow;
  std::memcpy(jump + 2, &address, 8);
  std::memcpy(target, jump, sizeof jump);
#endif
}
"""
lib = load(SOURCE)
lib.hook()


def kernel(x):
    return torch.softmax(x, dim=-1)
