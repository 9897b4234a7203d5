"""D6: loops in C++ with every signal blocked and the interpreter held."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {"row": "D6", "problem": "softmax", "rules": {}, "expect": ["timed_out"], "destructive": True}
SOURCE = r"""
#include <csignal>
extern "C" void spin(volatile float* x) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  for (;;) x[0] = x[0];
}
"""
lib = load(SOURCE)


def kernel(x):
    out = torch.empty_like(x)
    lib.spin(out)
    return out
