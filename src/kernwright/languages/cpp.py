"""C++17 with OpenMP by the system compiler, behind a plain C interface; no PyTorch headers."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from kernwright.core.built import Built, Support
from kernwright.core.calls import CallSpec
from kernwright.core.candidate import Candidate
from kernwright.core.loading import import_file
from kernwright.core.sanitizer import Sanitizer

from .address_sanitizer import address_sanitizer
from .imports import imports


class Cpp:
    """A Python file that calls `kernwright.languages.cpp_loader.load`."""

    name = "cpp"

    def supports(self, target: str) -> Support:
        if not target.startswith("cpu:"):
            return Support(
                ok=False, reason=f"C++ with OpenMP runs on cpu targets, not on {target!r}; say --target cpu."
            )
        named = os.environ.get("CXX")
        if named and not shutil.which(named):
            reason = f"CXX names {named!r}, which is not there; unset it, or let it name g++ or clang++."
            return Support(ok=False, reason=reason)
        if not (named or any(map(shutil.which, ("g++", "c++", "clang++")))):
            return Support(ok=False, reason="There is no C++ compiler; install g++ or clang++, or set CXX.")
        return Support(ok=True)

    def recognises(self, files: Mapping[str, str]) -> bool:
        return imports(files, "kernwright.languages.cpp_loader")

    def sanitizers(self, target: str) -> Sequence[Sanitizer]:
        return [address_sanitizer()]

    def emulates(self, target: str) -> Support:
        return Support(ok=False, reason=f"nothing runs C++ for {target!r} here")

    def emulate(self, target: str, text: str) -> None:
        raise NotImplementedError(self.emulates(target).reason)

    def build(self, candidate: Candidate, target: str, workdir: Path, calls: Sequence[CallSpec]) -> Built:
        """Importing the file runs its `load` calls, which compile into `$KERNWRIGHT_ARTIFACTS`."""
        import_file(workdir / candidate.main.name, "candidate")
        libraries = sorted(Path(os.environ["KERNWRIGHT_ARTIFACTS"]).glob("*.so"))
        if not libraries:
            raise RuntimeError("the file calls no load(), so there is no C++ in it")
        size = float(sum(path.stat().st_size for path in libraries))
        return Built(artifacts=tuple(path.name for path in libraries), resources={"library_bytes": size})
