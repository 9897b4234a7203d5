"""Triton: Python files that import it, compiled for a GPU where none is, and run by its interpreter elsewhere."""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path

from kernwright.core.built import Built, Support
from kernwright.core.calls import CallSpec
from kernwright.core.candidate import Candidate
from kernwright.core.sanitizer import Sanitizer

from .compute_sanitizer import compute_sanitizer
from .gpus import GPUS, Gpu, gpu_of
from .imports import imports
from .triton_cache import is_generated, variables

_COMPILER = ("triton", "triton_driver.py")
"""Folders and files that a candidate's own failure may come out of, once the candidate has called them."""


class Triton:
    """A Python file whose kernels are `@triton.jit` functions, Inductor's own files among them."""

    name = "triton"

    def supports(self, target: str) -> Support:
        if gpu_of(target) is None:
            reason = f"Triton candidates are built for {', '.join(GPUS)}, not for {target!r}."
            return Support(ok=False, reason=reason)
        if find_spec("triton") is None:
            reason = "Triton is not installed; install it with: pip install 'kernwright[triton]'"
            return Support(ok=False, reason=reason)
        return Support(ok=True)

    def recognises(self, files: Mapping[str, str]) -> bool:
        return imports(files, "triton") or any(map(is_generated, files.values()))

    def sanitizers(self, target: str) -> Sequence[Sanitizer]:
        return compute_sanitizer()

    def emulates(self, target: str) -> Support:
        if not target.startswith("cuda:"):
            return Support(ok=False, reason=f"nothing runs Triton for {target!r} here")
        if not (supported := self.supports(target)).ok:
            return supported
        return Support(ok=True, reason="Triton's interpreter on the processor, float32 and float16")

    def emulate(self, target: str, text: str) -> None:
        from .triton_emulation import prepare

        prepare(target, text)

    def build(self, candidate: Candidate, target: str, workdir: Path, calls: Sequence[CallSpec]) -> Built:
        """Call the candidate with fake tensors; what it launches is compiled into `$KERNWRIGHT_ARTIFACTS`.

        Where the call cannot be followed to its end (`dry_run` is 0, a note says why), the rest is compiled when it
        runs.

        Raises:
            ValueError: no GPU is known by this target's name.
        """
        from triton.errors import TritonError

        from . import dry_run, triton_driver, triton_launchers
        from .triton_errors import explained

        gpu = gpu_of(target)
        if gpu is None:
            raise ValueError(f"no GPU is known by the name {target!r}")
        artifacts = Path(os.environ["KERNWRIGHT_ARTIFACTS"])
        os.environ.update(variables(artifacts), TRITON_STORE_BINARY_ONLY="1")
        generated = any(is_generated(file.text) for file in candidate.files)
        driver = triton_driver.DescribedDriver(gpu, None if generated else triton_driver.real_launchers(gpu))
        notes: tuple[str, ...] = ()
        launchers = triton_launchers.left_for_all(artifacts)
        with _inductor(gpu, generated), dry_run.fake_device(gpu), triton_driver.active(driver), launchers:
            try:
                dry_run.follow(workdir / candidate.main.name, calls)
            except Exception as error:
                if isinstance(error, TritonError) or dry_run.is_own_failure(error, workdir, _COMPILER):
                    raise explained(
                        _with_reason(error, workdir / candidate.main.name, calls), candidate.files
                    ) from None
                notes = (
                    f"the dry run ended at {dry_run.where_it_ended(error, workdir)}; what is launched after that is "
                    "compiled when it runs, and is not among the resources",
                )
        for invented in artifacts.glob("triton/*/*.autotune.json"):  # times of launches that never were
            invented.unlink()
        binaries = [path for kind in ("cubin", "hsaco") for path in artifacts.glob(f"triton/*/*.{kind}")]
        names = sorted(str(path.relative_to(artifacts)) for path in binaries)
        resources = {**driver.kernels.resources(), "dry_run": 0.0 if notes else 1.0}
        return Built(artifacts=tuple(names), resources=resources, notes=notes)

    def compile_common(self, text: str) -> None:
        """A launcher's text, which a build has left, into `$KERNWRIGHT_ARTIFACTS`."""
        from .triton_launchers import compile_launcher

        compile_launcher(text)


def _with_reason(error: Exception, main: Path, calls: Sequence[CallSpec]) -> Exception:
    """MLIR's passes write theirs on standard error, which is only caught once it is known that they live to raise."""
    from . import dry_run

    if type(error) is RuntimeError:
        try:
            with dry_run.noted_complaints():
                dry_run.follow(main, calls)
        except Exception as again:
            return again
    return error


def _inductor(gpu: Gpu, generated: bool) -> AbstractContextManager[None]:
    if not generated:
        return nullcontext()
    from .triton_inductor import compiled_only

    return compiled_only(gpu)
