"""Runs CUDA C++ on the CPU, slowly, where there is no GPU: its SIMT part, compiled against headers that make fibers
of threads.

The kernels of a source become a shared library beside its cubin; `load` opens it, with the same calls as on a GPU.
"""

import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kernwright.languages.cuda_parameters import as_parameters

HEADERS = Path(__file__).parent / "include"
MOST_SHARED_KIB = {80: 163, 86: 99, 87: 163, 89: 99, 120: 99}
"""Dynamic shared memory that a block may ask for, by architecture; 227 on the others."""
_BEYOND = {
    r"\basm\b|<cuda/ptx>": "PTX instructions",
    r"\bwmma\b|\bnvcuda\b|<mma\.h>": "tensor core instructions",
    r"\bCUtensorMap\b|\bcp_async_bulk|\bcuda::barrier\b|\bcuda::pipeline\b|\bmemcpy_async\b": "asynchronous copies",
    r"\b(?:this_grid|grid_group|this_cluster|cluster_group|__cluster_dims__)\b": "synchronisation between blocks",
    r"\bcudaTextureObject_t\b|\bcudaSurfaceObject_t\b|\btex[123]D(?:fetch|Lod)?\s*<": "textures",
    r"<<<": "kernels that start kernels",
    r'#\s*include\s*[<"](?:cub|thrust|cutlass|cute|cuda)/': "NVIDIA's template libraries",
}


def compiler() -> str | None:
    """The C++ compiler that it would use."""
    return os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")


def load(source: str, options: Sequence[str], cubin: Path) -> "EmulatedLibrary":
    """The kernels of `source`; in the build stage they are compiled first.

    Raises:
        RuntimeError: the source needs more of a GPU than the shim has, or was not built.
    """
    library = cubin.with_suffix(".so")
    if not library.exists():
        if "KERNWRIGHT_BUILDING" not in os.environ:
            raise RuntimeError("this load() did not run in the build stage; call it at module level, same arguments")
        _compile(source, options, library)
    architecture = re.search(r"-arch=sm_(\d+)", " ".join(options))
    kib = MOST_SHARED_KIB.get(int(architecture[1]) if architecture else 0, 227)
    return EmulatedLibrary(library, kib << 10)


def _compile(source: str, options: Sequence[str], library: Path) -> None:
    plain = _without_comments(source)
    for pattern, what in _BEYOND.items():
        if re.search(pattern, plain):
            raise RuntimeError(f"the CPU shim cannot run {what}; build without emulating, or judge it on a GPU")
    command = [
        compiler() or "g++",
        "-std=c++17",
        "-x",
        "c++",
        f"-I{HEADERS}",
        "-include",
        "kernwright_cuda.h",
        *_kept(options),
    ]
    text = library.with_suffix(".cpp")
    text.write_text(plain)
    listed = _run([*command, "-E", "-P", "-DKERNWRIGHT_LISTING", str(text)])
    if listed.returncode:
        raise _unable(listed.stderr)
    kernels = _kernels(listed.stdout)
    entries = "".join(f"KERNWRIGHT_KERNEL({name})\n" for name in kernels)
    text.write_text(f'#line 1 "kernel.cu"\n{_with_dynamic_memory(plain)}\n{entries}')
    made = library.with_suffix(f".{os.getpid()}")
    command += ["-O2", "-march=native", "-fPIC", "-shared", "-fno-strict-aliasing", "-w"]
    done = _run([*command, "-o", str(made), str(text), "-lm"])
    if done.returncode:
        raise _unable(done.stderr)
    made.replace(library)


def _run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _unable(log: str) -> RuntimeError:
    first = next((line for line in log.splitlines() if "error: " in line), "the compiler does not say why")
    return RuntimeError(f"the CPU shim cannot run this source: {first}\n{log[:8000]}")


def _kept(options: Sequence[str]) -> list[str]:
    """Those options that mean the same to a compiler of C++."""
    architecture = re.search(r"sm_(\d+)", " ".join(options))
    kept = [o for o in options if re.match(r"-[DUI]\w", o)]
    return [*kept, f"-DKERNWRIGHT_ARCH={architecture[1] if architecture else 80}0"]


def _without_comments(source: str) -> str:
    """The text with comments blanked, lines kept."""
    keep = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'"
    pattern = rf"({keep})|//[^\n]*|/\*.*?\*/"
    return re.sub(pattern, lambda m: m[1] or "\n" * m[0].count("\n") or " ", source, flags=re.DOTALL)


def _kernels(preprocessed: str) -> list[str]:
    """Names of the functions that are `__global__` and no templates."""
    found = re.finditer(r"([^;{}]*)\b__global__\b[^;{}(]*?\b(\w+)\s*\(", preprocessed)
    return list(dict.fromkeys(m[2] for m in found if "template" not in m[1]))


def _with_dynamic_memory(source: str) -> str:
    """`extern __shared__` arrays as pointers to the one buffer that they all name."""
    words = r"(?:[\w:<>]+\s+|(?:__align__|alignas)\s*\([^()]*\)\s*)+"
    pattern = rf"extern\s+(?:__align__\s*\([^()]*\)\s*)?__shared__\s+({words})(\w+)\s*\[\s*\]\s*;"

    def pointer(match: re.Match[str]) -> str:
        kind = re.sub(r"(?:__align__|alignas)\s*\([^()]*\)", "", match[1]).strip()
        return f"static {kind}* const {match[2]} = reinterpret_cast<{kind}*>(kernwright::dynamic_shared);"

    return re.sub(pattern, pointer, source)


class _Parameter(ctypes.Structure):
    _fields_ = (("size", ctypes.c_int), ("kind", ctypes.c_char))


class EmulatedLibrary:
    """`library.name(grid, block, *arguments, shared=0)` on CPU tensors; every launch is finished when it returns."""

    def __init__(self, path: Path, most_shared: int) -> None:
        self._library, self._most_shared = ctypes.PyDLL(str(path)), most_shared

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        if not (hasattr(self._library, name) and hasattr(self._library, f"kernwright_run_{name}")):
            raise AttributeError(f'there is no extern "C" __global__ function {name} in it')
        run = getattr(self._library, f"kernwright_run_{name}")
        run.restype = ctypes.c_char_p
        describe = getattr(self._library, f"kernwright_parameters_{name}")
        describe.restype = ctypes.POINTER(_Parameter)
        sizes, kinds = _parameters(describe())

        def launch(grid: Any, block: Any, *arguments: Any, shared: int = 0) -> None:
            values = [_stored(v) for v in as_parameters(name, arguments, sizes, kinds, "cpu")]
            shape = self._shape(name, grid, block, shared)
            pointers = (ctypes.c_void_p * max(1, len(values)))(*map(ctypes.addressof, values))
            if trouble := run((ctypes.c_uint * 6)(*shape), ctypes.c_size_t(shared), pointers):
                raise RuntimeError(f"{name}: {trouble.decode(errors='replace')}")

        setattr(self, name, launch)
        return launch

    def _shape(self, name: str, grid: Any, block: Any, shared: int) -> list[int]:
        shape = [*_three(grid), *_three(block)]
        threads = shape[3] * shape[4] * shape[5]
        if min(shape) < 1 or threads > 1024 or shape[5] > 64 or max(shape[1:3]) > 65535 or shape[0] >= 1 << 31:
            raise RuntimeError(f"{name}: no GPU takes a grid of {grid} with blocks of {block}")
        if not 0 <= shared <= self._most_shared:
            raise RuntimeError(f"{name} asks for {shared} bytes of shared memory; a block gets {self._most_shared}")
        return shape


def _parameters(described: Any) -> tuple[list[int], str]:
    sizes: list[int] = []
    kinds = ""
    while described[len(sizes)].size:
        kinds += {b"u": "i", b"b": "i", b"s": "?"}.get(described[len(sizes)].kind, described[len(sizes)].kind.decode())
        sizes.append(described[len(sizes)].size)
    return sizes, kinds


def _three(size: Any) -> list[int]:
    sizes = [int(n) for n in (size if isinstance(size, tuple | list) else (size,))]
    return [*sizes, 1, 1, 1][:3] if len(sizes) <= 3 else [0, 0, 0]


def _stored(value: Any) -> Any:
    """Something with an address; NumPy's scalars keep their bits."""
    if isinstance(value, int):
        return ctypes.c_uint64(value)
    if hasattr(value, "tobytes"):
        return (ctypes.c_char * value.nbytes).from_buffer_copy(value.tobytes())
    return value
