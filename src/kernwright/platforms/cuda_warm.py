"""Imported by the launcher before it forks: what Triton's driver compiles for itself, once for all runners.

It loads the CUDA library but does not initialise it, which a process that forks must not do.
"""

import contextlib
import os
import tempfile


def _warm() -> None:
    from triton.backends.nvidia.driver import CudaUtils

    with tempfile.TemporaryDirectory(prefix="kernwright-") as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        try:
            CudaUtils()
        finally:
            del os.environ["TRITON_CACHE_DIR"]


# Without Triton, or a C compiler, candidates that need neither are judged all the same.
with contextlib.suppress(Exception):
    _warm()
