"""What a runner does with the memory that long messages have: an input set and a place for results for each call."""

import random
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.problem import Problem, Workload  # noqa: E402
from kernwright.evaluation.opening import opening  # noqa: E402
from kernwright.evaluation.place import HOST  # noqa: E402
from kernwright.evaluation.record import CallMemory, Record  # noqa: E402
from kernwright.evaluation.reference import Reference  # noqa: E402
from kernwright.evaluation.runner.opened import Opened  # noqa: E402
from kernwright.evaluation.runner.structure import view  # noqa: E402
from kernwright.evaluation.setting import Setting, prepare  # noqa: E402
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


def test_each_call_has_its_own_inputs_and_its_own_place(setting: Setting) -> None:
    session = CpuSession()
    inputs, outputs = (torch.zeros(size, dtype=torch.uint8) for size in setting.sizes[1:])
    opened = Opened(inputs, outputs, opening(setting, "kernel", False), lambda x, factor: x * factor, {})
    record, own = Record(session, setting, CALLS), CallMemory(session, CALLS, setting.set_bytes)
    spec = setting.input_specs[0][0]
    assert spec is not None
    for number, place in enumerate(own.bytes.split(setting.set_bytes)):
        view(place, spec).fill_(float(number))
    opened.keep_record(record.bytes, record.stride, CALLS)
    opened.take_inputs(own.bytes, setting.set_bytes, CALLS)
    message: dict[str, Any] = {"count": CALLS - 1, "set": 3, "sets": CALLS, "values": [2.0]}
    record.clear(CALLS)
    deliver = opened.delivery(CALLS - 1)
    for index, call in enumerate(opened.calls(message)):
        deliver(index, call())
    assert [float(record.slots(index)[0].max()) for index in range(CALLS - 1)] == [6.0, 8.0, 0.0, 2.0]
    assert bool(record.bytes[(CALLS - 1) * record.stride :].eq(0xFF).all())
    assert {memory.data_ptr() for memory in opened.end_messages()} == {record.bytes.data_ptr(), own.bytes.data_ptr()}
    assert opened.end_messages() == []
