"""Results are copied out of a runner's memory by the judge."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.participants.opening import elements_share  # noqa: E402
from kernwright.evaluation.participants.reading import Unreadable, put_weights, results  # noqa: E402
from kernwright.evaluation.participants.runner_message import MESSAGE_BYTES  # noqa: E402
from kernwright.evaluation.runner.kernel import may_read  # noqa: E402
from kernwright.evaluation.runner.structure import MOST_RESULTS, describe  # noqa: E402

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


def _read(pid: int, said: Any, at: Any, spec: dict[str, Any]) -> torch.Tensor:
    [found] = results(pid, {"outputs": [said], "at": [at]}, [spec])
    return found


def test_tensors_are_read_whatever_their_strides(child: tuple[int, int]) -> None:
    pid, at = child
    whole = torch.arange(24.0).view(4, 6)
    assert torch.equal(_read(pid, _said([4, 6], [6, 1]), at, _spec([4, 6])), whole)
    assert torch.equal(_read(pid, _said([6, 4], [1, 6]), at, _spec([6, 4])), whole.T)
    assert torch.equal(_read(pid, _said([4, 2], [6, 1]), at + 8, _spec([4, 2])), whole[:, 2:4])
    assert torch.equal(_read(pid, _said([], []), at + 4, _spec([])), whole[0, 1])
    assert _read(pid, _said([0, 6], [6, 1]), at, _spec([0, 6])).shape == (0, 6)


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
        _read(child[0], said, at, _spec([4, 6]))
    with pytest.raises(Unreadable):
        put_weights(child[0], [[said, at] if at != 8 else "x"], [torch.zeros(4, 7)])


@pytest.mark.parametrize(
    "reply", [{}, {"at": 5, "outputs": []}, {"at": [], "outputs": []}, {"at": [None], "outputs": 3}]
)
def test_replies_without_places_are_refused(child: tuple[int, int], reply: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        results(child[0], reply, [_spec([4, 6])])


def test_weights_are_written_whatever_their_strides(child: tuple[int, int]) -> None:
    pid, at = child
    whole = torch.arange(24.0).view(4, 6)
    turned, values = _said([6, 4], [1, 6]), torch.randn(6, 4)
    put_weights(pid, [[turned, at], None], [values, torch.zeros(3)])
    assert torch.equal(_read(pid, _said([4, 6], [6, 1]), at, _spec([4, 6])), values.T)
    put_weights(pid, [[_said([4, 6], [6, 1]), at]], [whole])
    put_weights(pid, [[_said([4, 2], [6, 1]), at + 8]], [torch.full((4, 2), 7.0)])
    expected = whole.clone()
    expected[:, 2:4] = 7
    assert torch.equal(_read(pid, _said([4, 6], [6, 1]), at, _spec([4, 6])), expected)
    put_weights(pid, [[_said([4, 6], [0, 1]), at]], [whole])  # expanded along the first axis
    put_weights(pid, [[_said([4, 6], [6, 1]), at]], [whole])


def test_whether_memory_may_be_read_is_told_without_reading_any(child: tuple[int, int]) -> None:
    assert may_read(child[0])
    assert may_read(os.getpid())
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert not may_read(gone.pid)


@pytest.mark.parametrize("described", [[{}], [{"2": [1]}], [None], [[]], {}, 7])
def test_whoever_describes_results_by_something_else_ends_nothing(described: Any) -> None:
    setting: Any = SimpleNamespace(output_specs=[{"overlapping": False}])
    assert not elements_share(described, setting)


def test_as_many_results_as_fit_into_a_message_are_described() -> None:
    most = torch.zeros(1, 2, 3, 4, 5, dtype=torch.complex128).expand(1 << 20, 2, 3, 4, 5)
    described = describe([most] * MOST_RESULTS)
    assert len(described) == MOST_RESULTS
    places = [most.data_ptr()] * MOST_RESULTS
    assert len(json.dumps({"outputs": described, "at": places}).encode()) < MESSAGE_BYTES - 1024
