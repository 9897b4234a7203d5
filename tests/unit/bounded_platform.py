"""The processor as if it were a device whose memory is reserved; what the judge does with that is written down."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch

from kernwright.platforms.cpu import Cpu, CpuSession

ROWS = 37
"""Rows of the problem's tensors, which no other has."""
SAID: list[str] = []
"""What was done; `free N` with how many of the problem's tensors the judge still had."""
WANTED: list[bool] = []
"""Not empty where another process waits for room."""
TEXTS: list[tuple[str, ...]] = []
"""Of each process, the sources that its variables were asked for."""


class Bounded(Cpu):
    """The processor."""

    def open(self, target: str) -> CpuSession:
        return BoundedSession()


class BoundedSession(CpuSession):
    """One with 1 TiB."""

    memory_bytes: int | None = 1 << 40

    def variables(self, artifacts: Path, texts: Sequence[str] = ()) -> Mapping[str, str]:
        TEXTS.append(tuple(texts))
        return super().variables(artifacts, texts)

    @contextmanager
    def reserved(self, nbytes: int, timing: int = 0) -> Iterator[None]:
        SAID.append("reserve")
        yield
        SAID.append("release")

    def wanted(self, for_s: float = 0.0) -> bool:
        return bool(WANTED)

    def free(self) -> None:
        tensors = [each for each in gc.get_objects() if type(each) is torch.Tensor and not each.is_meta]
        mine = [each for each in tensors if each.shape[:1] == (ROWS,)]
        SAID.append(f"free {len(mine)}")
