"""AddressSanitizer for C++: reads and writes beyond an allocation, after it was freed, or beyond a variable."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from kernwright.core.sanitizer import Sanitizer

_CONTROL = '''
import torch

from kernwright.languages.cpp_loader import load

lib = load("""
#include <cstdint>
extern "C" void add_one(const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i <= n; ++i) out[i] = x[i] + 1;
}
""")


def kernel(x):
    out = torch.empty(x.shape)
    lib.add_one(x, out, x.numel())
    return out
'''
_OPTIONS = "detect_leaks=0:quarantine_size_mb=64:allocator_may_return_null=1"
"""Leaks are Python's own; a request that is too large has to fail as it does elsewhere."""


@cache
def address_sanitizer() -> Sanitizer:
    """By the compiler that the loader takes; its runtime has to be there before anything allocates."""
    name = "AddressSanitizer"
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")
    if compiler is None:
        return Sanitizer(name=name, missing="there is no C++ compiler")
    runtime = _runtime(compiler)
    if runtime is None:
        return Sanitizer(
            name=name,
            missing=f"{compiler} has no shared AddressSanitizer runtime; install libasan (for g++ 12: libasan8)",
        )
    flags = "-fsanitize=address -fno-omit-frame-pointer -g"
    if "clang" in runtime.name:
        flags += " -shared-libasan"
    return Sanitizer(
        name=name,
        environment={"LD_PRELOAD": str(runtime), "ASAN_OPTIONS": _OPTIONS, "CXXFLAGS": flags},
        reports=r"ERROR: AddressSanitizer: ([\w-]+)(?:[^#]*#0 \S+ in (\S+))?",
        control=_CONTROL,
        control_language="kernwright.languages.cpp:Cpp",
    )


def _runtime(compiler: str) -> Path | None:
    for name in ("libasan.so", f"libclang_rt.asan-{os.uname().machine}.so", "libclang_rt.asan.so"):
        done = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False)
        path = Path(done.stdout.strip())
        if path.is_absolute() and path.exists():
            return path.resolve()
    return None
