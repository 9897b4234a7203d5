"""compute-sanitizer for kernels on NVIDIA GPUs: memcheck, racecheck and initcheck, each with a planted fault."""

import os
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from kernwright.core.around import Around
from kernwright.core.sanitizer import Doubt, Sanitizer

_CONTROL = '''
import torch

from kernwright.languages.cuda_loader import load

lib = load(r"""
extern "C" __global__ void add_one(const float* x, const float* unset, float* out, int n) {
  BODY
}
""")


def kernel(x):
    out, unset = torch.empty_like(x), torch.empty(4 << 20, device=x.device)
    lib.add_one(1, 64, x, unset, out, x.numel())
    return out
'''
_FAULTS = {
    # Caching allocators round up to 512 bytes and more: far beyond whatever they hold.
    "memcheck": "int i = threadIdx.x; out[i] = x[i] + 1; if (i == 0) out[(size_t)1 << 34] = 1;",
    "racecheck": "__shared__ float s[64]; int i = threadIdx.x; s[i] = x[i]; out[i] = s[63 - i] + 1;",
    "initcheck": "int i = threadIdx.x; out[i] = x[i] + 1 + 0 * unset[(1 << 20) + i];",
}
_REPORTS = {
    "memcheck": r"========= (Invalid [^\n]*)\n=========\s+at ([^\n]*)",
    "racecheck": r"========= (?:Error|Warning): (Race reported[^\n]*)",
    "initcheck": r"========= (Uninitialized [^\n]*)\n=========\s+at ([^\n]*)",
}
_OPTIONS = ("--target-processes", "all", "--show-backtrace", "no")
_MORE_OPTIONS = {
    "memcheck": ("--print-limit", "4", "--report-api-errors", "no"),
    "racecheck": ("--print-limit", "16"),  # some may be a library's
    "initcheck": ("--print-limit", "4"),
}
"""What follows a fault, call by call and with the host's stack, fills the log whose end is kept."""
_VARIABLES = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
"""One allocation for each tensor, so that its bounds are the tool's own."""

_DOUBTS = {
    "racecheck": Doubt(
        text=r"__threadfence_block|thread_scope_block|\b(?:fence|atom|red|ld|st)(?:\.\w+)*\.cta\b",
        report=r"\bat (nvjet_\w+)",
        why="it follows barriers, not fences and atomics, nor the copies of cuBLAS, which may order accesses here",
    ),
    "initcheck": Doubt(
        environment={"KERNWRIGHT_FRESH_MEMORY": "filled"},
        why="results are right where PyTorch fills fresh memory with NaN, so that it makes no difference",
    ),
}
"""Seen on an H100 with compute-sanitizer 2025.3: racecheck calls it a race where warps count themselves done in shared
memory before another one goes on, and not where the same kernel waits at `__syncthreads`; on an H200 it called so what
cuBLAS's own product of float16 matrices does, `nvjet_sm90_hss_256x128_64x4_1x2_h_bz_coopA_TNT`. initcheck does not see
what bulk copies write: of PyTorch's own `relu(linear(x))` in float16 it reports the product that cuBLAS has written."""


@cache
def compute_sanitizer() -> Sequence[Sanitizer]:
    """One for each of its tools; they differ in what a process is started under."""
    program = _program()
    if program is None:
        missing = "compute-sanitizer is not there; install it with the CUDA toolkit, or set CUDA_HOME"
        return [Sanitizer(name="compute-sanitizer", missing=missing)]
    return tools_of(program)


def tools_of(program: str) -> Sequence[Sanitizer]:
    """The tools of the program at this path, where it need not be."""
    return [
        Sanitizer(
            name=tool,
            around=Around(
                command=(program, "--tool", tool, *_OPTIONS, *_MORE_OPTIONS[tool]),
                readable=_folders(Path(program)),
            ),
            environment=_VARIABLES,
            reports=_REPORTS[tool],
            doubt=_DOUBTS.get(tool),
            control=_CONTROL.replace("BODY", _FAULTS[tool]),
            control_language="kernwright.languages.cuda:Cuda",
        )
        for tool in _FAULTS
    ]


def _folders(program: Path) -> tuple[Path, ...]:
    """The toolkit's own is a script, or a link, into a folder beside its own."""
    places = [place.parent for place in (program, program.resolve())]
    return tuple(dict.fromkeys([*places, *(place.parent / "compute-sanitizer" for place in places)]))


def _program() -> str | None:
    home = os.environ.get("CUDA_HOME")
    places = [Path(home) / "bin", Path(home) / "compute-sanitizer"] if home else []
    found = [str(path) for place in places if (path := place / "compute-sanitizer").is_file()]
    return found[0] if found else shutil.which("compute-sanitizer")
