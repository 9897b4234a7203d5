"""What a runner does with the memory that long messages have: an input set and a place for results for each call."""

import random
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.problem import Problem, Workload  # noqa: E402
from kernwright.evaluation.participants.opening import opening  # noqa: E402
from kernwright.evaluation.participants.record import CallMemory, Record, layouts_of, results_in  # noqa: E402
from kernwright.evaluation.problem.place import HOST  # noqa: E402
from kernwright.evaluation.problem.reference import Reference  # noqa: E402
from kernwright.evaluation.problem.setting import Setting, prepare  # noqa: E402
from kernwright.evaluation.runner.opened import Opened  # noqa: E402
from kernwright.evaluation.runner.structure import view  # noqa: E402
from kernwright.platforms.cpu import CpuSession  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x, factor):
        return x * factor


def get_inputs():
    return [torch.randn(8, 128), 2.0]


def get_init_inputs():
    return []
"""
CALLS = 5


@pytest.fixture
def setting() -> Setting:
    workload = Workload(name="w")
    reference = Reference(Problem(name="p", source=SOURCE, workloads=(workload,)), place=HOST)
    return prepare(reference, workload, 0, random.Random(1), vary=True)


@pytest.mark.parametrize(
    ("shape", "said", "known"),
    [
        ([4, 8], None, [8, 1]),
        ([4, 8], [1, 4], [1, 4]),
        ([2, 1, 3], [1, 99, 2], [1, 1, 2]),
        ([0, 3], [3, 1], [3, 1]),
    ],
)
def test_results_lie_as_a_runner_says_where_that_fills_their_places(
    shape: list[int], said: list[int] | None, known: list[int]
) -> None:
    spec = {"shape": shape, "strides": list(torch.empty(shape).stride())}
    assert layouts_of(None if said is None else [said], [spec]) == [known]


@pytest.mark.parametrize(
    "said",
    [
        [],
        "no",
        [[8, 1], [8, 1]],
        [[1, 8]],
        [[0, 1]],
        [[8, -1]],
        [[8]],
        [8, 1],
        [[8.5, 1]],
        [[True, 4]],
        [[16, 2]],
        [{}],
    ],
)
def test_of_no_others_a_runner_can_say_how_they_lie(said: object) -> None:
    with pytest.raises(ValueError, match="results"):
        layouts_of(said, [{"shape": [4, 8], "strides": [8, 1]}])


def test_each_call_has_its_own_inputs_and_its_own_place(setting: Setting) -> None:
    session = CpuSession()
    inputs, outputs = (torch.zeros(size, dtype=torch.uint8) for size in setting.sizes[1:])
    opened = Opened(inputs, outputs, opening(setting, "kernel", False), lambda x, factor: x * factor, {})
    record, own = Record(session, CALLS, setting.sizes[2]), CallMemory(session, CALLS, setting.set_bytes)
    spec = setting.input_specs[0][0]
    assert spec is not None
    for number, place in enumerate(own.bytes.split(setting.set_bytes)):
        view(place, spec).fill_(float(number))
    opened.keep_record(record.bytes, record.stride, CALLS)
    opened.take_inputs(own.bytes, setting.set_bytes, CALLS)
    message: dict[str, Any] = {"count": CALLS - 1, "set": 3, "sets": CALLS}
    record.clear(CALLS)
    deliver = opened.delivery(CALLS - 1)
    for index, call in enumerate(opened.calls(message, [[2.0], [3.0]], [0, 1, 0, 0])):
        deliver(index, call())
    layouts = layouts_of(opened.layouts, setting.output_specs)
    assert [
        float(results_in(record.of(index), setting.output_specs, layouts)[0].max()) for index in range(CALLS - 1)
    ] == [6.0, 12.0, 0.0, 2.0]
    assert bool(record.bytes[(CALLS - 1) * record.stride :].eq(0xFF).all())
    assert {memory.data_ptr() for memory in opened.end_messages()} == {record.bytes.data_ptr(), own.bytes.data_ptr()}
    assert opened.end_messages() == []


@pytest.mark.parametrize("reuses", [False, True])
def test_one_buffer_for_all_results_holds_the_next_calls_result_where_the_rules_forbid_it(
    setting: Setting, reuses: bool
) -> None:
    inputs, outputs = (torch.zeros(size, dtype=torch.uint8) for size in setting.sizes[1:])
    message = opening(setting, "kernel", False) | {"reuses": reuses}
    buffer = torch.empty(8, 128)
    opened = Opened(inputs, outputs, message, lambda x, factor: torch.mul(x, factor, out=buffer), {})
    record = Record(CpuSession(), CALLS, setting.sizes[2])
    opened.keep_record(record.bytes, record.stride, CALLS)
    record.clear(CALLS)
    deliver = opened.delivery(CALLS)
    for index in range(CALLS):
        deliver(index, opened.function(torch.ones(8, 128), float(index)))
    found = [float(results_in(record.of(index), setting.output_specs, [[128, 1]])[0].max()) for index in range(CALLS)]
    assert found == ([0.0, 1.0, 2.0, 3.0, 4.0] if reuses else [1.0, 2.0, 3.0, 4.0, 4.0])


def test_a_large_result_is_cleared_at_many_places() -> None:
    record = Record(CpuSession(), 2, (1 << 17) + 512)
    record.clear(2)
    for each in (record.of(0), record.of(1)):
        steps = each[: 1 << 17].view(-1, 4096)
        assert bool(steps[:, :256].eq(0xFF).all())
        assert not bool(steps[:, 256:].any())
        assert bool(each[1 << 17 :].eq(0xFF).all())
