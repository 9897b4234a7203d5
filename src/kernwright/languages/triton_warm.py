"""What every process that builds or runs Triton kernels needs, done once in the process that they are forked from."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from .triton_cache import variables

_AT_LAUNCH = ("triton.experimental.gluon.nvidia.hopper", "triton.tools.tensor_descriptor")
"""A process's first launch imports these, which takes a tenth of a second."""


def warm(*capabilities: int) -> None:
    """Import Triton and take the digests that its cache's keys are made of; nothing where it is not installed.

    Touches no device: the vendor's library is opened, where it is there, but not initialised. What it compiles for
    itself is loaded from a folder that is then removed. `capabilities`, such as 90, are those of this machine's GPUs.
    """
    if find_spec("triton") is None:
        return
    import torch._subclasses.fake_tensor  # what builds import
    from triton.backends.nvidia.compiler import get_ptxas_version
    from triton.runtime.cache import triton_key
    from triton.runtime.driver import driver

    from .triton_driver import nvidia_driver

    torch._subclasses.fake_tensor.FakeTensorMode()
    import torch._inductor.runtime.triton_heuristics

    for name in _AT_LAUNCH:
        with suppress(ImportError):
            import_module(name)
    triton_key()
    for capability in capabilities:
        get_ptxas_version(capability)
    if (nvidia := nvidia_driver()) is not None:
        with _own_cache():
            driver.set_active(nvidia.CudaDriver())


@contextmanager
def _own_cache() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        before: Mapping[str, str | None] = {name: os.environ.get(name) for name in variables(Path())}
        os.environ.update(variables(Path(folder)))
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
