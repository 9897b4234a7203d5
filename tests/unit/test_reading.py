"""Results are copied out of a runner's memory by the judge."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.reading import Unreadable, result_at  # noqa: E402
from kernwright.evaluation.runner.kernel import may_read  # noqa: E402

CHILD = """\
import sys, torch
kept = torch.arange(24.0).view(4, 6)
print(kept.data_ptr(), flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def child() -> Iterator[tuple[int, int]]:
    """Another process, and where it holds 0 to 23."""
    process = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        at = int(process.stdout.readline())
        if not may_read(process.pid):
            pytest.skip("this machine lets no process read another one's memory")
        yield process.pid, at
    finally:
        process.kill()
        process.communicate()


def _spec(shape: list[int], dtype: str = "float32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape}


def _said(shape: list[int], strides: list[int], dtype: str = "float32") -> list[Any]:
    return ["Tensor", dtype, shape, strides, "cpu"]


def test_tensors_are_read_whatever_their_strides(child: tuple[int, int]) -> None:
    pid, at = child
    whole = torch.arange(24.0).view(4, 6)
    assert torch.equal(result_at(pid, _said([4, 6], [6, 1]), at, _spec([4, 6])), whole)
    assert torch.equal(result_at(pid, _said([6, 4], [1, 6]), at, _spec([6, 4])), whole.T)
    assert torch.equal(result_at(pid, _said([4, 2], [6, 1]), at + 8, _spec([4, 2])), whole[:, 2:4])
    assert torch.equal(result_at(pid, _said([], []), at + 4, _spec([])), whole[0, 1])
    assert result_at(pid, _said([0, 6], [6, 1]), at, _spec([0, 6])).shape == (0, 6)


@pytest.mark.parametrize(
    ("said", "at"),
    [
        (None, 0),
        (["Tensor"], 0),
        (_said([4, 6], [6, 1], "float64"), 0),
        (_said([4, 5], [5, 1]), 0),
        (_said([4, 6], [6]), 0),
        (_said([4, 6], [-6, 1]), 0),
        (_said([4, 6], ["6", None]), 0),
        (_said([4, 6], [1 << 40, 1]), 0),
        (_said([4, 6], [6, 1]), None),
        (_said([4, 6], [6, 1]), "x"),
        (_said([4, 6], [6, 1]), 8),
        (_said([4, 6], [6, 1]), -1),
        (_said([4, 6], [6, 1]), 1 << 70),
    ],
)
def test_what_leads_to_no_tensor_is_refused(child: tuple[int, int], said: Any, at: Any) -> None:
    with pytest.raises(Unreadable):
        result_at(child[0], said, at, _spec([4, 6]))


def test_whether_memory_may_be_read_is_told_without_reading_any(child: tuple[int, int]) -> None:
    assert may_read(child[0])
    assert may_read(os.getpid())
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert not may_read(gone.pid)
