"""What is concluded from looks into calls, where they are many and where a busy machine left few."""

import random
from collections.abc import Callable
from typing import cast
from unittest.mock import MagicMock

import pytest

from kernwright.evaluation.participants.mappings import Mapping
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.participants.runner_process import Runner
from kernwright.evaluation.timing.onlooker import Onlooker
from kernwright.evaluation.timing.places import Place, path_at
from kernwright.evaluation.timing.race import Race
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


class Timed(Participant):
    """Whose calls take 2 ms, of which the first quarter is its own work, by a clock that each reading moves."""

    def __init__(self, used_ns: Callable[[int], int]) -> None:
        self.name, self.now_ns, self.began_ns, self.stood_ns = "candidate", 0, -1, 0
        self.used_ns, self.used_before_ns = used_ns, 0
        self.runner = cast("Runner", self)
        self.init_pid = 0
        self._stopped_ns = 0

    def monotonic_ns(self) -> int:
        self.now_ns += 1_000
        return self.now_ns

    def monotonic(self) -> float:
        return self.monotonic_ns() / 1e9

    def sleep(self, seconds: float) -> None:
        self.now_ns += int(seconds * 1e9)

    def at_ns(self) -> int:
        """How far the latest call is."""
        return self.now_ns - self.began_ns - self.stood_ns

    def cpu_ns(self) -> int:
        self.now_ns += 1_000
        return self.used_before_ns + (self.used_ns(self.at_ns()) if self.began_ns >= 0 else 0)

    def replied(self) -> bool:
        return self.at_ns() > 2_000_000

    def fill(self, *_: object) -> None:
        pass

    def call(self, *_: object, sent: Callable[[], None] | None, clock: str) -> None:  # type: ignore[override]
        self.began_ns, self.stood_ns = self.now_ns, 0
        if sent is not None:
            sent()
        self.now_ns = max(self.now_ns, self.began_ns + self.stood_ns + 2_100_000)
        self.used_before_ns += self.used_ns(2_100_000)
        self.began_ns = -1

    def freeze(self) -> None:
        self._stopped_ns = self.now_ns

    def thaw(self) -> None:
        self.stood_ns += self.now_ns - self._stopped_ns

    def running(self, _: int) -> list[Place]:
        """In place of what the kernel says."""
        return [OWN if self.at_ns() < 500_000 else VENDOR]


@pytest.mark.parametrize(
    "used_ns",
    [
        lambda at_ns: at_ns,
        lambda at_ns: min(at_ns, 100_000),
        lambda at_ns: at_ns if at_ns < 2_000_000 else 100_000,
    ],
    ids=["all of it", "that of a start", "until it ended"],
)
def test_processor_time_that_is_nobodys_hides_no_part_of_a_call(
    used_ns: Callable[[int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    candidate, onlooker = Timed(used_ns), Onlooker(random.Random(0))
    monkeypatch.setattr("kernwright.evaluation.timing.onlooker.time", candidate)
    monkeypatch.setattr("kernwright.evaluation.timing.onlooker.running", candidate.running)
    race = cast("Race", MagicMock())
    cast("MagicMock", race).times_ns.return_value = [2e6]
    cast("MagicMock", race).setting.workload.name = "a"
    for _ in range(8):
        onlooker.after_block(race, candidate)
    assert "looks into calls beside the timed ones" in str(onlooker.verdict())


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
