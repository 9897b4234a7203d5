"""The judge's allocations that runners share, the large ones of which serve again.

A driver takes seconds for gigabytes that it has to clear and map, and each process set needs them anew.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import torch

from .cuda_memory import Mapping, create

LARGE_BYTES = 256 << 20
"""From here on. Smaller ones are always new: where their pages lie shows in how fast they are."""
ROOM = 4
"""Where less than so many times a large one is free, what PyTorch keeps of freed memory here goes back to the
driver first: neither a new buffer gets that, nor the process that maps it and needs memory of its own."""


class CudaBuffer:
    """A dedicated allocation that can be passed as a file descriptor."""

    def __init__(self, mapping: Mapping, fd: int, pool: "Pool") -> None:
        self._mapping, self._pool = mapping, pool
        self.fd = fd
        self.bytes: Any = mapping.bytes

    def close(self) -> None:
        """Give it back; tensors over it must be dead, and processes that map it too."""
        if self.fd >= 0:
            fd, self.fd, self.bytes = self.fd, -1, None
            self._pool.take_back(self._mapping, fd)

    def discard(self) -> None:
        """Give it back to the driver, at once or when all is discarded."""
        if self.fd >= 0:
            fd, self.fd, self.bytes = self.fd, -1, None
            self._pool.discard(self._mapping, fd)


class Pool:
    """Makes buffers, and keeps large ones that were closed."""

    def __init__(self, device: int) -> None:
        self._device = device
        self._kept: list[tuple[Mapping, int]] = []
        self._discarded: list[tuple[Mapping, int]] = []
        self._stock: list[tuple[Mapping, int]] = []
        """New ones that nobody has had yet."""
        self._later = False

    def buffer(self, nbytes: int) -> CudaBuffer:
        """New or used; nothing of what a used one held is left.

        Raises:
            torch.OutOfMemoryError: the device has no room.
        """
        self.discard_all()
        if (new := _taken(self._stock, nbytes)) is not None:
            return CudaBuffer(*new, self)
        if (used := _taken(self._kept, nbytes)) is not None:
            used[0].bytes.zero_()
            return CudaBuffer(*used, self)
        return CudaBuffer(*self._created(nbytes), self)

    def stock(self, sizes: Sequence[int]) -> None:
        """Have new ones of these sizes at hand, of those that are not kept, and no others; as far as there is room."""
        wanted = [_taken(self._stock, nbytes) or nbytes for nbytes in sizes if nbytes < LARGE_BYTES]
        self._free_stock()
        for each in wanted:
            with suppress(torch.OutOfMemoryError):
                self._stock.append(self._created(each) if isinstance(each, int) else each)

    def _created(self, nbytes: int) -> tuple[Mapping, int]:
        if nbytes >= LARGE_BYTES and torch.cuda.mem_get_info(self._device)[0] < ROOM * nbytes:
            torch.cuda.empty_cache()
        try:
            return create(nbytes, self._device)
        except torch.OutOfMemoryError:
            self.free()
            torch.cuda.empty_cache()
            return create(nbytes, self._device)

    def take_back(self, mapping: Mapping, fd: int) -> None:
        """Keep it where it is large."""
        if mapping.bytes.numel() >= LARGE_BYTES:
            self._kept.append((mapping, fd))
        else:
            _release(mapping, fd)

    def discard(self, mapping: Mapping, fd: int) -> None:
        """Never use it again."""
        if self._later:
            self._discarded.append((mapping, fd))
        else:
            _release(mapping, fd)

    @contextmanager
    def discards_later(self) -> Iterator[None]:
        """Meanwhile nothing is given back to the driver, which takes milliseconds for it, but to make others."""
        self._later = True
        try:
            yield
        finally:
            self._later = False

    def discard_all(self) -> None:
        """Give back what was discarded meanwhile."""
        while self._discarded:
            _release(*self._discarded.pop())

    def free(self) -> None:
        """Give all that is kept back to the driver."""
        self.discard_all()
        self._free_stock()
        while self._kept:
            _release(*self._kept.pop())

    def _free_stock(self) -> None:
        while self._stock:
            _release(*self._stock.pop())


def _taken(among: list[tuple[Mapping, int]], nbytes: int) -> tuple[Mapping, int] | None:
    """One of just so many bytes, which is no longer among them; None where there is none."""
    for index, (mapping, _) in enumerate(among):
        if mapping.bytes.numel() == nbytes:
            return among.pop(index)
    return None


def _release(mapping: Mapping, fd: int) -> None:
    os.close(fd)
    mapping.close()
