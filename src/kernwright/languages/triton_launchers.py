"""Launchers of Triton's kernels: small C libraries, by a kernel's signature alone, which gcc takes 0.2 s for."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kernwright.core.commons import found, leave

from .described_gpu import replaced
from .triton_cache import variables
from .triton_driver import nvidia_driver

_NAME = "__triton_launcher"


@contextmanager
def left_for_all(artifacts: Path) -> Iterator[None]:
    """Within, each launcher that was compiled for all is taken; of another the text is left among the artefacts."""
    nvidia = nvidia_driver()
    if nvidia is None:
        yield
        return
    compiled, texts = nvidia.compile_module_from_src, list[str]()

    def noting(src: str, name: str, **about: Any) -> Any:
        if name == _NAME and src not in texts:
            texts.append(src)
            if (common := found(src)) is not None:
                shutil.copytree(common / "triton", artifacts / "triton", dirs_exist_ok=True)
            else:
                leave(artifacts, f"launcher_{len(texts)}.c", src)
        return compiled(src=src, name=name, **about)

    with replaced(nvidia, {"compile_module_from_src": noting}):
        yield


def compile_launcher(text: str) -> None:
    """One of them, into `$KERNWRIGHT_ARTIFACTS`, where Triton looks for it."""
    nvidia = nvidia_driver()
    if nvidia is None:
        raise RuntimeError("NVIDIA's driver is not installed")
    os.environ.update(variables(Path(os.environ["KERNWRIGHT_ARTIFACTS"])))
    nvidia.compile_module_from_src(
        src=text,
        name=_NAME,
        library_dirs=nvidia.library_dirs(),
        include_dirs=nvidia.include_dirs,
        libraries=nvidia.libraries,
    )
