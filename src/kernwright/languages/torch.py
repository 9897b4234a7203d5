"""A Python file that uses PyTorch or Numba; whatever it compiles at import is compiled once."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kernwright.core.built import Built, Support
from kernwright.core.calls import CallSpec
from kernwright.core.candidate import Candidate
from kernwright.core.loading import import_file


class Torch:
    """Python alone."""

    name = "torch"

    def supports(self, target: str) -> Support:
        if target.startswith("rocm:"):
            return Support(ok=False, reason=f"PyTorch candidates cannot be built ahead for {target!r}.")
        return Support(ok=True)

    def recognises(self, files: Mapping[str, str]) -> bool:
        return True

    def emulates(self, target: str) -> Support:
        return Support(ok=False, reason=f"nothing runs it for {target!r} here")

    def emulate(self, target: str, text: str) -> None:
        raise NotImplementedError(self.emulates(target).reason)

    def build(self, candidate: Candidate, target: str, workdir: Path, calls: Sequence[CallSpec]) -> Built:
        """Importing the file fills Inductor's and Numba's caches, which lie among the artefacts."""
        import_file(workdir / candidate.main.name, "candidate")
        return Built(artifacts=(), resources={})
