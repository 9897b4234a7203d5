"""What tests share: what is known of the machine, and its cores."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

KNOWN = ("noise", "baseline", "probed")
"""Parts of a home's cache that hold nothing of a run: the machine's noise, and what `torch.compile` built and found."""


@pytest.fixture(scope="session")
def informed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Makes a folder a home in which the machine is known as soon as any test of the session has measured it.

    Such homes are new in all else. Measuring noise and compiling baselines takes ten seconds and more in each.
    """
    own = tmp_path_factory.getbasetemp()
    known = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "known"

    def inform(home: Path) -> Path:
        for name in KNOWN:
            (known / name).mkdir(parents=True, exist_ok=True)
            (home / "cache").mkdir(parents=True, exist_ok=True)
            (home / "cache" / name).symlink_to(known / name)
        return home

    return inform


@pytest.fixture
def home(informed: Callable[[Path], Path], tmp_path: Path) -> Path:
    """An informed home of this test alone."""
    return informed(tmp_path / "home")


@pytest.fixture(autouse=True, scope="module")
def _own_cores() -> Iterator[None]:
    """A judge keeps its thread off the core that it times on, for good; here another file's tests come after it."""
    cores = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, cores)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(int(os.environ.get("OMP_NUM_THREADS", len(cores))))
