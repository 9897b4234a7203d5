"""Pages of a process that lie at several of its addresses."""

import ctypes
import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernwright.evaluation.participants.mappings import one_for_several

PAGE = mmap.PAGESIZE
SHARED, PRIVATE, FIXED, ANONYMOUS = 0x01, 0x02, 0x10, 0x20
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


@pytest.fixture
def area() -> Iterator[int]:
    """Eight pages of this process's own."""
    at = libc.mmap(None, 8 * PAGE, 3, PRIVATE | ANONYMOUS, -1, 0)
    yield at
    libc.munmap(at, 8 * PAGE)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[int]:
    """Four pages in a file."""
    fd = os.open(tmp_path / "pages", os.O_RDWR | os.O_CREAT)
    os.ftruncate(fd, 4 * PAGE)
    yield fd
    os.close(fd)


def _lay(at: int, fd: int, pages: int, offset: int, kind: int = SHARED) -> None:
    assert libc.mmap(at, pages * PAGE, 3, kind | FIXED, fd, offset * PAGE) == at


def _found(*spans: tuple[int, int]) -> bool:
    return one_for_several(os.getpid(), spans)


def test_memory_of_its_own_lies_at_one_address_each(area: int) -> None:
    assert not _found((area, area + 8 * PAGE), (area + PAGE, area + 3 * PAGE))


@pytest.mark.parametrize("kind", [SHARED, PRIVATE])
def test_a_page_that_lies_at_two_addresses_is_found(area: int, file: int, kind: int) -> None:
    _lay(area, file, 1, 0, kind)
    _lay(area + PAGE, file, 1, 0, kind)
    assert _found((area, area + 2 * PAGE))
    assert _found((area, area + 100), (area + PAGE, area + PAGE + 100))  # of two results
    assert not _found((area, area + PAGE))
    assert not _found((area, area + 100), (area + 50, area + 200))  # two results in the same memory


def test_stretches_that_overlap_in_part_are_found(area: int, file: int) -> None:
    _lay(area, file, 3, 0)
    _lay(area + 3 * PAGE, file, 2, 2)
    assert _found((area, area + 5 * PAGE))
    assert not _found((area, area + 2 * PAGE), (area + 3 * PAGE, area + 5 * PAGE))


def test_a_file_that_lies_there_once_is_as_good_as_other_memory(area: int, file: int) -> None:
    _lay(area, file, 2, 2)
    _lay(area + 2 * PAGE, file, 2, 0)  # in another order
    assert not _found((area, area + 4 * PAGE))


def test_a_process_that_has_ended_is_somebody_elses_to_report() -> None:
    assert not one_for_several(2**30, [(0, 2**40)])
