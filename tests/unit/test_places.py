"""In which function of a file a process is, and that a file's name is not enough for that."""

import ctypes
import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from kernwright.evaluation.participants.mappings import mapping_of
from kernwright.evaluation.timing.places import _maps, function_at

CHILD = """\
import ctypes, mmap, sys

libm, libc = ctypes.CDLL("libm.so.6"), ctypes.CDLL(None)
at = ctypes.cast(libm.cbrt, ctypes.c_void_p).value
page = at - at % mmap.PAGESIZE
if sys.argv[1] == "altered":
    assert libc.mprotect(ctypes.c_void_p(page), mmap.PAGESIZE, 7) == 0
    ctypes.memset(at, 0xCC, 1)
if sys.argv[1] == "copied":
    libc.mmap.restype = ctypes.c_void_p
    copy = libc.mmap(None, mmap.PAGESIZE, 7, 34, -1, 0)
    ctypes.memmove(copy, page, mmap.PAGESIZE)
    at += copy - page
print(at, flush=True)
sys.stdin.read()
"""


@contextmanager
def _child(how: str) -> Iterator[tuple[int, int]]:
    """A process, and where it has the function."""
    command = [sys.executable, "-c", CHILD, how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.pid, int(process.stdout.readline())


@pytest.mark.parametrize(("how", "same"), [("plain", True), ("altered", False), ("copied", False)])
def test_a_function_is_known_where_the_file_has_it_and_its_code_is_the_files(how: str, same: bool) -> None:
    own = ctypes.cast(ctypes.CDLL("libm.so.6").cbrt, ctypes.c_void_p).value
    with _child(how) as (pid, at):
        assert function_at(pid, _maps(pid), at + 4) == (own if same else None)


def test_no_function_is_known_of_a_process_that_ended_or_where_nothing_lies() -> None:
    with _child("plain") as (pid, at):
        maps = _maps(pid)
        assert function_at(pid, maps, 16) is None
    assert function_at(pid, maps, at + 4) is None
    assert function_at(pid, [], at) is None


@pytest.mark.parametrize("end", ["\v", "\f", "\r", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\n"])
def test_the_name_of_a_file_is_no_line_of_its_own(end: str, tmp_path: Path) -> None:
    forged = tmp_path / f"of{end}1000-{1 << 47:x} r-xp 0 0:0 7 "
    forged.mkdir()
    fd = os.open(forged / f"own.so{end}short", os.O_RDWR | os.O_CREAT)
    try:
        os.ftruncate(fd, mmap.PAGESIZE)
        with closing(mmap.mmap(fd, mmap.PAGESIZE)):
            found = _maps("self")
    finally:
        os.close(fd)
    assert not [each for each in found if each.first == 0x1000 or each.file[1] == 7]
    assert len([each for each in found if "own.so" in each.path]) == 1


def test_a_line_that_cannot_be_read_is_left_out() -> None:
    lines = (b"", b"short", b"0-1-2 r 0 0:0 0", b"0-z r 0 0:0 0", b"0-1 r 0 \xff 0")
    assert [mapping_of(line) for line in lines] == [None] * 5
