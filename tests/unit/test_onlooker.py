"""What is concluded from looks into calls, where they are many and where a busy machine left few."""

import random

import pytest

from kernwright.evaluation.timing.onlooker import Onlooker, _Mapping, _path_at

OWN, VENDOR = "/tmp/kernel.so", "/usr/lib/torch/lib/libtorch_cpu.so"


def _after(own: int, vendor: int) -> Onlooker:
    onlooker = Onlooker(random.Random(0))
    for path in [OWN] * own + [VENDOR] * vendor:
        onlooker.saw([path])
    return onlooker


@pytest.mark.parametrize(("own", "vendor"), [(0, 0), (6, 0), (5, 1), (40, 12), (0, 2), (30, 20)])
def test_looks_within_the_limit_or_too_few_to_hint_at_more_say_nothing(own: int, vendor: int) -> None:
    onlooker = _after(own, vendor)
    assert onlooker.verdict() is None
    assert onlooker.doubt() is None


@pytest.mark.parametrize(("own", "vendor"), [(0, 12), (10, 40), (1, 11)])
def test_many_looks_into_vendors_libraries_refuse_a_kernel_by_name(own: int, vendor: int) -> None:
    assert f"{vendor} of {own + vendor} looks" in str(_after(own, vendor).verdict())
    assert "libtorch_cpu.so" in str(_after(own, vendor).verdict())


def test_threads_that_keep_busy_hide_no_vendors_library_and_threads_that_wait_are_none() -> None:
    onlooker = _after(0, 0)
    for _ in range(30):
        onlooker.saw([OWN, "", OWN, VENDOR])
    assert "30 of 30 looks" in str(onlooker.verdict())
    onlooker = _after(0, 0)
    for _ in range(30):
        onlooker.saw([OWN, "/usr/lib/torch/lib/libgomp.so.1"])
    assert onlooker.verdict() is None


@pytest.mark.parametrize(("own", "vendor"), [(0, 4), (1, 6), (6, 11), (24, 27)])
def test_looks_that_hint_at_vendors_libraries_leave_a_doubt_and_a_remedy(own: int, vendor: int) -> None:
    onlooker = _after(own, vendor)
    assert onlooker.verdict() is None
    assert "judge it again when the machine is quieter" in str(onlooker.doubt())


def test_code_that_was_moved_to_memory_of_no_file_is_of_the_file_it_was_in() -> None:
    maps = [
        _Mapping(0, 10, 0, "/a.so"),
        _Mapping(10, 20, 0, ""),
        _Mapping(20, 30, 20, "/a.so"),
        _Mapping(30, 40, 0, ""),
        _Mapping(40, 50, 0, ""),
        _Mapping(50, 60, 10, "/b.so"),
        _Mapping(70, 80, 0, "[stack]"),
    ]
    places = {5: "/a.so", 15: "/a.so", 25: "/a.so", 35: "", 45: "/b.so", 55: "/b.so", 65: "", 75: "[stack]", 95: ""}
    assert {place: _path_at(maps, place) for place in places} == places
