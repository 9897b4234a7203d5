"""Where the threads of a stopped process are: in the code of which file, and in which function of it."""

import ctypes
import mmap
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kernwright.evaluation.participants.mappings import Mapping, mapping_of
from kernwright.evaluation.runner import kernel, tree

VENDORS = ("/torch/lib/", "mkl", "blas", "lapack", "dnnl", "/numpy/", "/numpy.libs/", "/scipy/", "/scipy.libs/")
"""Parts of paths of libraries that do the work of others."""
WAITERS = ("libgomp", "libiomp", "libomp")
"""Parts of names of those, delivered beside them, in which threads only wait for each other."""

Kept = tuple[str, int, int, int]
"""Code as it may be kept for other processes: path of its file, size and time of change (nanoseconds) of that, and with
which of its bytes the code begins."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a thread is."""

    path: str
    """Of the file whose code it runs; empty where that is in no file."""
    function: int | None = None
    """In a vendor's library: where this process has that function, if it has the same file and the same bytes there."""


def running(init: int) -> list[Place]:
    """Of each thread below a process that was computing when it was stopped."""
    found: list[Place] = []
    for pid in tree.descendants(init):
        counters = [at for at in (_counter(pid, thread) for thread in tree.threads(pid)) if at is not None]
        if counters:
            maps = _maps(pid)
            found += [_place(pid, maps, counter) for counter in counters]
    return found


def is_vendor(path: str) -> bool:
    """Whether the file is a library that does the work of others."""
    name = Path(path).name
    return ".so" in name and any(part in path.lower() for part in VENDORS) and not name.startswith(WAITERS)


def path_at(maps: Sequence[Mapping], counter: int) -> str:
    """The file whose code lies there, also where its pages were moved to memory of no file: the loader lays a file's
    parts as they lie in it."""
    mapping = _mapping_at(maps, counter)
    if mapping is None:
        return ""
    parts = (each.path for each in maps if each.path and each.first - each.offset <= counter < each.first)
    return mapping.path or next(parts, "")


def function_at(pid: int, maps: Sequence[Mapping], counter: int) -> int | None:
    """Where this process has the function that a stopped one runs there; None where it has not the same code.

    A process may write other code over a file's, in its own memory; that page is another then.
    """
    theirs = _mapping_at(maps, counter)
    own = _same(theirs, counter) if theirs is not None else None
    if own is None or not _same_page(pid, counter, own):
        return None
    return _function_around(own)


def kept(function: int) -> Kept | None:
    """Of a function where this process has it; None where that is in no file, or in one that is gone."""
    mapping = _mapping_at(_maps("self"), function)
    known = _file(mapping.path) if mapping is not None else None
    return None if mapping is None or known is None else (*known, function - mapping.first + mapping.offset)


def found_again(code: Kept) -> int | None:
    """Where this process has it; None where it has not that file, or not as it was."""
    path, *_, byte = code
    if _file(path) != code[:3]:
        return None
    own = (each for each in _maps("self") if each.path == path)
    return next((m.first + byte - m.offset for m in own if 0 <= byte - m.offset < m.end - m.first), None)


def _file(path: str) -> tuple[str, int, int] | None:
    try:
        known = Path(path).stat()
    except OSError:
        return None
    return path, known.st_size, known.st_mtime_ns


def _place(pid: int, maps: Sequence[Mapping], counter: int) -> Place:
    path = path_at(maps, counter)
    return Place(path, function_at(pid, maps, counter) if is_vendor(path) else None)


def _counter(pid: int, thread: int) -> int | None:
    """The program counter of a stopped thread that was computing; None where it waited in the kernel."""
    said = tree.read(f"/proc/{pid}/task/{thread}/syscall").decode().split()
    return int(said[2], 16) if len(said) == 3 and said[0] == "-1" else None


def _maps(pid: int | str, inode: int | None = None) -> list[Mapping]:
    """Of all files, or of those with this inode."""
    found = map(mapping_of, tree.lines(f"/proc/{pid}/maps"))
    return [each for each in found if each is not None and (inode is None or each.file[1] == inode)]


def _mapping_at(maps: Sequence[Mapping], counter: int) -> Mapping | None:
    index = bisect_right(maps, counter, key=lambda each: each.first) - 1
    return maps[index] if index >= 0 and counter < maps[index].end else None


def _same(theirs: Mapping, counter: int) -> int | None:
    """Where this process has the same byte of the same file: by its inode, since a runner may have another root."""
    byte = counter - theirs.first + theirs.offset
    own = (each for each in _maps("self", theirs.file[1]) if each.file == theirs.file and theirs.file[1] != 0)
    return next((m.first + byte - m.offset for m in own if 0 <= byte - m.offset < m.end - m.first), None)


def _same_page(pid: int, counter: int, own: int) -> bool:
    size, page = mmap.PAGESIZE, ctypes.create_string_buffer(mmap.PAGESIZE)
    try:
        read = kernel.read_memory(pid, counter - counter % size, ctypes.addressof(page), size)
    except OSError:
        return False
    return read == size and page.raw == ctypes.string_at(own - own % size, size)


def _function_around(address: int) -> int | None:
    """Where it begins, by what exceptions are unwound by: that is there where symbols were stripped, too."""
    find = _finder()
    return find(address + 1) if find else None  # it takes an address to return to, which follows a call


@cache
def _finder() -> Any:
    try:
        find = ctypes.CDLL("libgcc_s.so.1")._Unwind_FindEnclosingFunction
    except (OSError, AttributeError):
        return None
    find.argtypes, find.restype = [ctypes.c_void_p], ctypes.c_void_p
    return find
