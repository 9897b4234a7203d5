"""CUDA C++ for NVIDIA GPUs, compiled ahead of time on CPU cores; a CPU shim runs it where there is no GPU."""

import ctypes.util
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from kernwright.core.built import Built, Support
from kernwright.core.calls import CallSpec
from kernwright.core.candidate import Candidate
from kernwright.core.loading import import_file
from kernwright.core.sanitizer import Sanitizer

from .compute_sanitizer import compute_sanitizer
from .imports import imports

_NEEDED = "install what it needs with: pip install 'kernwright[cuda]'"


class Cuda:
    """A Python file that calls `kernwright.languages.cuda_loader.load`, or `load_inline` with CUDA sources."""

    name = "cuda"

    def supports(self, target: str) -> Support:
        if not target.startswith("cuda:"):
            reason = f"CUDA C++ runs on cuda targets, not on {target!r}; write it in a language for that target."
            return Support(ok=False, reason=reason)
        if not _installed("cuda.core"):
            return Support(ok=False, reason=f"CUDA C++ is launched through cuda-core, which is not there; {_NEEDED}")
        if not (_has_nvrtc() or shutil.which("nvcc")):
            return Support(ok=False, reason=f"There is neither NVRTC nor nvcc to compile CUDA C++ with; {_NEEDED}")
        return Support(ok=True)

    def recognises(self, files: Mapping[str, str]) -> bool:
        if imports(files, "kernwright.languages.cuda_loader"):
            return True
        device_code = re.compile(r"cuda_sources|__global__|\.cu\b")
        return imports(files, "torch.utils.cpp_extension") and any(map(device_code.search, files.values()))

    def sanitizers(self, target: str) -> Sequence[Sanitizer]:
        return compute_sanitizer()

    def emulates(self, target: str) -> Support:
        if not target.startswith("cuda:"):
            return Support(ok=False, reason=f"nothing runs CUDA C++ for {target!r} here")
        if not (os.environ.get("CXX") or any(map(shutil.which, ("g++", "clang++")))):
            return Support(ok=False, reason="the CPU shim for CUDA C++ needs a C++ compiler; install g++ or clang++")
        return Support(ok=True, reason="a CPU shim for CUDA C++")

    def emulate(self, target: str, text: str) -> None:
        """The environment told the loader already."""

    def build(self, candidate: Candidate, target: str, workdir: Path, calls: Sequence[CallSpec]) -> Built:
        """Importing the file runs its `load` calls, which compile into `$KERNWRIGHT_ARTIFACTS`."""
        artifacts = Path(os.environ["KERNWRIGHT_ARTIFACTS"])
        if any("cpp_extension" in file.text for file in candidate.files):
            from .cuda_extension import keep_builds

            keep_builds(artifacts, target, workdir)
        import_file(workdir / candidate.main.name, "candidate")
        made = sorted(p for suffix in ("*.cubin", "extensions/*/*.so") for p in artifacts.glob(suffix))
        if not made:
            raise RuntimeError("the file calls no load() at module level, so there is no CUDA C++ in it to compile")
        resources = ptxas_resources("".join(p.read_text() for p in artifacts.glob("*.ptxas")))
        resources["cubin_bytes"] = float(sum(p.stat().st_size for p in made if p.suffix == ".cubin"))
        return Built(artifacts=tuple(str(p.relative_to(artifacts)) for p in made), resources=resources)


def ptxas_resources(report: str) -> dict[str, float]:
    """What ptxas says with `-v`: the largest over its kernels, static shared memory only, and how many there are."""
    patterns = {
        "registers": r"Used (\d+) registers",
        "shared_bytes": r"(\d+) bytes smem",
        "spill_bytes": r"(\d+) bytes spill (?:stores|loads)",
    }
    found = {name: [float(n) for n in re.findall(pattern, report)] for name, pattern in patterns.items()}
    resources = {name: max(numbers, default=0.0) for name, numbers in found.items()}
    return resources | {"kernels": float(report.count("Compiling entry function"))}


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _has_nvrtc() -> bool:
    if not _installed("cuda.bindings"):
        return False
    spec = find_spec("nvidia") if _installed("nvidia") else None
    places = (spec and spec.submodule_search_locations) or ()
    toolkit = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "lib64"
    packed = any(True for place in places for _ in Path(place).glob("*/lib/libnvrtc.so*"))
    return packed or any(toolkit.glob("libnvrtc.so*")) or ctypes.util.find_library("nvrtc") is not None
