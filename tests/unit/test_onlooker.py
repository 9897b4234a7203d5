"""What is concluded from looks into calls, where they are many and where a busy machine left few."""

import random

import pytest

from kernwright.evaluation.participants.mappings import Mapping
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.timing.onlooker import Onlooker
from kernwright.evaluation.timing.places import Place, path_at
from kernwright.evaluation.timing.sightings import Sightings, together

OWN, VENDOR = Place("/tmp/kernel.so"), Place("/usr/lib/torch/lib/libtorch_cpu.so")
FILL, ADD = Place(VENDOR.path, 64), Place(VENDOR.path, 128)


def _after(own: int, vendor: int) -> Onlooker:
    onlooker = Onlooker(random.Random(0))
    for place in [OWN] * own + [VENDOR] * vendor:
        onlooker.saw([place])
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


def test_a_workload_is_refused_by_its_own_looks_however_many_are_seen_into_others() -> None:
    onlooker = _after(0, 0)
    for _ in range(30):
        for workload in ("s", "t", "u"):
            onlooker.saw([OWN], workload)
        onlooker.saw([VENDOR], "a")
    assert "30 of 30 looks into calls of workload 'a'" in str(onlooker.verdict())
    assert "30 of 30" in onlooker.note()


def test_little_is_allowed_to_long_calls_beside_short_ones() -> None:
    short, long = Sightings(" of workload 'tiny'"), Sightings(" of workload 'a'")
    short.shown(2_000)
    long.shown(1_000_000)
    assert short.limit == 0.95
    assert long.limit == pytest.approx(0.31)
    assert together([short, long]).limit == 0.95


def test_more_workloads_make_no_refusal_likelier() -> None:
    onlooker = _after(15, 23)
    assert onlooker.verdict() is not None
    for workload in range(9):
        for _ in range(40):
            onlooker.saw([OWN], str(workload))
    assert onlooker.verdict() is None


def test_threads_that_keep_busy_hide_no_vendors_library_and_threads_that_wait_are_none() -> None:
    onlooker = _after(0, 0)
    for _ in range(30):
        onlooker.saw([OWN, Place(""), OWN, VENDOR])
    assert "30 of 30 looks" in str(onlooker.verdict())
    onlooker = _after(0, 0)
    for _ in range(30):
        onlooker.saw([OWN, Place("/usr/lib/torch/lib/libgomp.so.1")])
    assert onlooker.verdict() is None


@pytest.mark.parametrize(("own", "vendor"), [(0, 4), (1, 6), (6, 11), (24, 27)])
def test_looks_that_hint_at_vendors_libraries_leave_a_doubt_and_a_remedy(own: int, vendor: int) -> None:
    onlooker = _after(own, vendor)
    assert onlooker.verdict() is None
    assert "judge it again when the machine is quieter" in str(onlooker.doubt())


class Nobody(Participant):
    """Whom no race asks for a call."""

    def __init__(self) -> None:
        pass


def _settled(*looks: list[Place]) -> Onlooker:
    """After each of these looks twenty times, and with what they say of filling settled."""
    onlooker = _after(0, 0)
    for places in looks * 20:
        onlooker.saw(places)
    onlooker.settle([], Nobody(), lambda: frozenset({64}))
    return onlooker


def test_vendors_code_that_only_fills_memory_is_nobodys_work_and_is_told() -> None:
    onlooker = _settled([FILL], [FILL, OWN], [OWN])
    assert onlooker.verdict() is None
    assert onlooker.doubt() is None
    assert onlooker.note() == (
        "0 of 60 looks into calls from outside found them in vendors' libraries, and 40 where these only fill memory"
    )


@pytest.mark.parametrize("work", [ADD, VENDOR])
def test_who_fills_hides_no_other_work_of_vendors(work: Place) -> None:
    assert "60 of 60 looks" in str(_settled([FILL, work], [work, FILL], [work]).verdict())
    assert "40 of 60 looks" in str(_settled([FILL, work], [work], [FILL]).verdict())


def test_what_fills_is_asked_only_where_much_was_seen_in_vendors_libraries() -> None:
    asked: list[int] = []

    def learn() -> frozenset[int]:
        asked.append(1)
        return frozenset()

    _after(60, 5).settle([], Nobody(), learn)
    assert not asked
    _after(60, 20).settle([], Nobody(), learn)
    assert len(asked) == 1


def test_code_that_was_moved_to_memory_of_no_file_is_of_the_file_it_was_in() -> None:
    maps = [
        Mapping(0, 10, 0, "/a.so"),
        Mapping(10, 20, 0, ""),
        Mapping(20, 30, 20, "/a.so"),
        Mapping(30, 40, 0, ""),
        Mapping(40, 50, 0, ""),
        Mapping(50, 60, 10, "/b.so"),
        Mapping(70, 80, 0, "[stack]"),
    ]
    places = {5: "/a.so", 15: "/a.so", 25: "/a.so", 35: "", 45: "/b.so", 55: "/b.so", 65: "", 75: "[stack]", 95: ""}
    assert {place: path_at(maps, place) for place in places} == places
