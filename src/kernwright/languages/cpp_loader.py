"""Loads C++ kernels with a plain C interface. With `loader_folder` all that an export inlines; all standard library."""

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from .loader_folder import loader_folder


def load(source: str, defines: Mapping[str, object] | None = None, flags: Sequence[str] = ()) -> "Library":
    """Compile C++17 with OpenMP, or find it compiled, and open it. `source` is the text, or a file beside the caller.

    Its functions are `extern "C"` and take pointers (given tensors), `int64_t` (given ints) and `double` (floats).
    Raises RuntimeError: no compiler, the compiler's errors, or a library that the build stage did not make.
    """
    if "\n" not in source:
        source = (Path(sys._getframe(1).f_globals["__file__"]).parent / source).read_text()
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")
    options = ["-std=c++17", "-O3", "-march=native", "-fopenmp", "-fPIC", "-shared", *flags]
    options += [f"-D{name}={value}" for name, value in (defines or {}).items()] + os.getenv("CXXFLAGS", "").split()
    key = hashlib.sha256(repr((source, options)).encode()).hexdigest()[:32]
    built = os.environ.get("KERNWRIGHT_ARTIFACTS")
    folder = loader_folder()
    library = folder / f"{key}.so"
    if not library.exists():
        if built and "KERNWRIGHT_BUILDING" not in os.environ:
            raise RuntimeError("this load() did not run in the build stage; call it at module level, same arguments")
        if compiler is None:
            raise RuntimeError("there is no C++ compiler; install g++ or clang++, or set CXX")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (text := folder / f"{key}.cpp").write_text(source)
        command = [compiler, *options, "-o", str(made := folder / f"{key}.{os.getpid()}"), str(text), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{compiler} failed with status {done.returncode}:\n{done.stderr[:8000]}")
        made.replace(library)
    return Library(library)


class Library:
    """Functions of a shared library, called with tensors, ints and floats."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))

    def __getattr__(self, name: str) -> Callable[..., None]:
        function = getattr(self._library, name)
        function.restype = None
        setattr(self, name, call := lambda *arguments: function(*map(_native, arguments)))
        return call


def _native(value: object) -> object:
    if hasattr(value, "data_ptr"):
        return ctypes.c_void_p(value.data_ptr())
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(int(value))  # type: ignore[call-overload]
