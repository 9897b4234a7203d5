"""Gates, bursts and what is late: the judge's means against a device that works on its own, tried without one."""

import math
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from kernwright.core.problem import Problem, Tolerance, Workload  # noqa: E402
from kernwright.evaluation.ended import Ended  # noqa: E402
from kernwright.evaluation.errors.comparison import compare  # noqa: E402
from kernwright.evaluation.measurement import Measurement  # noqa: E402
from kernwright.evaluation.participants.gate import Gate  # noqa: E402
from kernwright.evaluation.participants.laying_out import SETS  # noqa: E402
from kernwright.evaluation.participants.opened import Opened  # noqa: E402
from kernwright.evaluation.problem.cases import Asked, Ready  # noqa: E402
from kernwright.evaluation.problem.reference import Place, Reference  # noqa: E402
from kernwright.evaluation.problem.setting import Setting, prepare  # noqa: E402
from kernwright.evaluation.runner.structure import view  # noqa: E402
from kernwright.evaluation.timing.burst_inputs import DRAWN, RENEWED, BurstInputs  # noqa: E402
from kernwright.evaluation.timing.burst_witness import STANDARD, count_bursts, short_call_excess  # noqa: E402
from kernwright.evaluation.timing.bursts import Bursts  # noqa: E402
from kernwright.evaluation.timing.clocks import Burst, Clocks  # noqa: E402
from kernwright.evaluation.timing.kept_calls import require_right  # noqa: E402
from kernwright.evaluation.timing.pairs import Pairs, few_of  # noqa: E402
from kernwright.evaluation.timing.race import Race  # noqa: E402
from kernwright.evaluation.timing.witness import disturbed, kept_busy  # noqa: E402
from kernwright.platforms.cpu import CpuSession  # noqa: E402

SOURCE = (
    "import torch\n"
    "class Model(torch.nn.Module):\n"
    "    def forward(self, x, factor):\n"
    "        return torch.softmax(x, -1) * factor\n"
    "def get_inputs():\n"
    "    return [torch.randn(8, 128), 2.0]\n"
    "def get_init_inputs():\n"
    "    return []\n"
)


def _setting(apart_bytes: int = 100_000, *, held_out: bool = False) -> Setting:
    workload = Workload(name="w", held_out=held_out)
    problem = Problem(name="p", source=SOURCE, workloads=(workload,))
    reference = Reference(problem, place=Place(apart_bytes=apart_bytes))
    return prepare(reference, workload, 0, random.Random(1), vary=True)


def _room(setting: Setting, sets: int) -> torch.Tensor:
    return torch.zeros(sets * setting.set_bytes, dtype=torch.uint8)


def test_a_call_is_let_go_when_it_is_queued() -> None:
    gate = Gate()
    turn = gate.shut()
    assert not gate.await_queued(1e6)
    threading.Timer(0.02, lambda: setattr(gate._queued, "value", turn)).start()
    assert gate.await_queued(5e9)
    gate.open()
    assert gate._open.value == turn
    assert gate.shut() != turn
    assert not gate.await_queued(1e6)
    gate.close()


@pytest.mark.parametrize(
    ("apart", "held_out", "overlapping"),
    [(0, False, False), (8_192, False, False), (4_000, False, True), (4_000, True, False)],
)
def test_large_input_sets_lie_over_one_another(apart: int, held_out: bool, overlapping: bool) -> None:
    setting = _setting(apart, held_out=held_out)
    assert len(setting.input_specs) == SETS
    assert setting.overlapping is overlapping
    assert setting.set_bytes == 4096


def test_every_set_gets_the_values_of_others_and_some_lines_last() -> None:
    setting, sets, rng = _setting(), 70, random.Random(2)
    setting.draw_s = 0.0  # beside other work a draw may seem slow, and values are those of a few known draws then
    inputs = BurstInputs(setting, rng, sets, _room(setting, sets))
    memory = torch.zeros((sets + 3) * setting.set_bytes, dtype=torch.uint8)
    spec = setting.input_specs[0][0]
    assert spec is not None
    seen = set()
    for _ in range(4):
        inputs.choose(rng)
        inputs.place(memory, 0, sets)
        before = memory.clone()
        inputs.finish(memory, 0, sets)
        late = 0
        for number, place in enumerate(memory.split(setting.set_bytes)[:sets]):
            tensor, factor = inputs.values(number)
            assert torch.equal(view(place, spec), tensor)
            assert factor == 2.0
            seen.add(tensor.numpy().tobytes())
            late += not torch.equal(place, before[number * setting.set_bytes :][: setting.set_bytes])
        assert late > 0.5 * sets
        assert bool(memory[sets * setting.set_bytes :].eq(0).all())
    assert len(seen) > 3.5 * sets


@pytest.mark.parametrize(("first", "count"), [(0, 1), (3, 4), (9, 2), (8, 10), (6, 12)])
def test_only_the_sets_that_a_message_has_get_values(first: int, count: int) -> None:
    setting, sets, rng = _setting(), 10, random.Random(5)
    inputs = BurstInputs(setting, rng, sets, _room(setting, sets))
    spec = setting.input_specs[0][0]
    assert spec is not None
    for _ in range(12):
        memory = torch.full((sets * setting.set_bytes,), 7, dtype=torch.uint8)
        inputs.choose(rng)
        inputs.place(memory, first, count)
        inputs.finish(memory, first, count)
        given = {(first + call) % sets for call in range(count)}
        for number, place in enumerate(memory.split(setting.set_bytes)):
            assert bool(place.eq(7).all()) == (number not in given)
            assert number not in given or torch.equal(view(place, spec), inputs.values(number)[0])


def test_the_last_lines_are_never_there_from_the_beginning() -> None:
    setting, rng = _setting(), random.Random(4)
    setting.draw_s = 0.0
    inputs, memory = BurstInputs(setting, rng, 2, _room(setting, 2)), _room(setting, 2)
    for _ in range(20):
        inputs.choose(rng)
        inputs.place(memory, 1, 2)
        before = memory.clone()
        inputs.finish(memory, 1, 2)
        assert not torch.equal(memory, before)


def test_a_further_series_has_some_sets_that_none_had_before() -> None:
    setting, rng = _setting(), random.Random(6)
    inputs = BurstInputs(setting, rng, 60, _room(setting, 60))
    before = [inputs.values(number)[0] for number in range(60)]
    inputs.renew(rng)
    others = [number for number in range(60) if not torch.equal(inputs.values(number)[0], before[number])]
    assert len({number % DRAWN for number in others}) == RENEWED
    assert 2 * RENEWED <= len(others) <= 3 * RENEWED  # with those that have as many plain values


ODD = {
    "integers": "torch.randint(0, 9, (8, 128))",
    "one row": "torch.randn(1, 1024)",
    "positive": "torch.rand(8, 128) + 1.0",
    "sorted": "torch.randn(8, 128).sort(-1).values",
    "few bytes": "torch.randn(3)",
    "no dimension": "torch.randn(())",
}


@pytest.mark.parametrize("made", ODD.values(), ids=ODD)
def test_inputs_of_every_kind_are_what_the_reference_gets(made: str, prepared: Callable[..., Setting]) -> None:
    source = SOURCE.replace("torch.randn(8, 128)", made).replace("torch.softmax(x, -1)", "x")
    setting, rng = prepared(source, Place(apart_bytes=100_000)), random.Random(3)
    setting.draw_s = 0.0
    inputs, memory = BurstInputs(setting, rng, 40, _room(setting, 40)), _room(setting, 40)
    spec = setting.input_specs[0][0]
    assert spec is not None
    for series in range(3):
        if series:
            inputs.renew(rng)
        inputs.choose(rng)
        inputs.place(memory, 7, 40)
        inputs.finish(memory, 7, 40)
        for number, place in enumerate(memory.split(setting.set_bytes)):
            [value, _] = inputs.values(number)
            assert torch.equal(view(place, spec), value)
            assert torch.equal(value, setting.kept([value, 2.0])[0])
            assert made != ODD["integers"] or 0 <= int(value.min()) <= int(value.max()) <= 8
        assert len({float(inputs.values(number)[0].double().sum()) for number in range(40)}) > 12


class _Device:
    """A participant whose calls take so long; each result is of the input set that its call had.

    `cached`: all are of the first call's. `idle`: only the first call was made when the message is answered.
    """

    def __init__(self, setting: Setting, call_ns: float, *, cached: bool = False, idle: bool = False) -> None:
        self._setting, self._call_ns, self._cached, self._idle = setting, call_ns, cached, idle
        self._memory = torch.zeros(0, dtype=torch.uint8)
        self.most, self._sets = 0, 1
        self.pairs: dict[int, Pairs] = {}
        self.name = "candidate"

    def freeze(self) -> None:
        """It does nothing by itself."""

    def queueable_calls(self, workload: int) -> int:
        return 800

    def begin_messages(self, workload: int, calls: int, *, record: bool, sets: bool) -> None:
        assert record
        assert sets
        assert not self.most
        self.most, self._memory = calls, torch.zeros(calls * self._setting.set_bytes, dtype=torch.uint8)

    def end_messages(self, workload: int) -> None:
        self.most = 0

    def _fill(self, inputs: BurstInputs, chosen: int, count: int) -> None:
        self._sets = inputs.sets
        inputs.place(self._memory, chosen, count)
        inputs.finish(self._memory, chosen, count)

    def takes(self, count: int) -> float:
        return 50_000.0 + count * self._call_ns

    def burst(self, workload: int, chosen: int, values: Any, count: int, **more: Any) -> Burst:
        self._fill(more["inputs"], chosen, count)
        return Burst(self.takes(count), {index: self._result(chosen, index) for index in more["looks"].calls})

    def _input(self, chosen: int, index: int) -> torch.Tensor:
        spec, size = self._setting.input_specs[0][0], self._setting.set_bytes
        assert spec is not None
        number = (chosen + (0 if self._cached else index)) % self._sets
        return view(self._memory[number * size : (number + 1) * size], spec)

    def _result(self, chosen: int, index: int) -> list[torch.Tensor]:
        if self._idle and index:
            return [torch.full((8, 128), float("nan"))]
        return [torch.softmax(self._input(chosen, index), -1) * 2.0]


def _always(calls: int, repeats: int) -> bool:
    return True


def _pairs(device: _Device, setting: Setting, seed: int = 3) -> Pairs:
    keep = partial(require_right, setting)
    with Bursts(cast(Any, device), setting, 7_000.0, random.Random(seed), CpuSession(), keep=keep) as bursts:
        return bursts.first(_always)


def test_a_baseline_may_have_had_more_calls_in_a_message_than_its_time_now_asks_for() -> None:
    setting = _setting(100_000)
    device, known = _Device(setting, 40_000.0), _pairs(_Device(setting, 7_000.0), setting)
    known = replace(known, calls=120)
    with Bursts(cast(Any, device), setting, 40_000.0, random.Random(1), CpuSession(), usual=known) as bursts:
        assert bursts.most_of(40_000.0) < known.calls <= bursts.room
        further = bursts.further(known, 2)
        assert (further.calls, len(further.long_ns)) == (known.calls, 2)


def _usual(beside_ns: float, *noise_ns: float) -> Pairs:
    """What messages of two calls, and of four, say of a trusted participant whose call takes 30 ms."""
    noise = noise_ns or (0.0,) * 9
    return Pairs(
        calls=2,
        short_ns=tuple(beside_ns + 60e6 + each for each in noise),
        long_ns=tuple(beside_ns + 120e6 - each for each in noise),
    )


class _Placed(_Device):
    """Its messages take longer by where memory lies: of each time that it gets some in turn, the last for good."""

    def __init__(self, setting: Setting, call_ns: float, beside_ns: Sequence[float]) -> None:
        super().__init__(setting, call_ns)
        self._beside_ns = [*beside_ns]

    def end_messages(self, workload: int) -> None:
        super().end_messages(workload)
        del self._beside_ns[: len(self._beside_ns) > 1]

    def takes(self, count: int) -> float:
        return super().takes(count) + self._beside_ns[0]


class _LeavesOut(_Device):
    """One call in six of a message gives what the one before it gave."""

    def _result(self, chosen: int, index: int) -> list[torch.Tensor]:
        return super()._result(chosen, index - (index % 6 == 5))


def test_who_leaves_some_calls_of_a_message_out_is_nearly_always_found() -> None:
    found, setting = 0, _setting(100_000)
    for seed in range(40):
        try:
            _pairs(_LeavesOut(setting, 7_000.0), setting, seed)
        except Ended as error:
            found += error.outcome.kind == "wrong"
    assert found >= 34


class _Remembers(_Device):
    """Knows inputs by their first two elements, and gives again what it once made of such."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, 7_000.0)
        self._known: dict[tuple[float, ...], list[torch.Tensor]] = {}

    def burst(self, workload: int, chosen: int, values: Any, count: int, **more: Any) -> Burst:
        self._fill(more["inputs"], chosen, count)
        results = {index: self._result(chosen, index) for index in range(count)}
        return Burst(self.takes(count), {index: results[index] for index in more["looks"].calls})

    def _result(self, chosen: int, index: int) -> list[torch.Tensor]:
        first = tuple(self._input(chosen, index).flatten()[:2].tolist())
        return self._known.setdefault(first, super()._result(chosen, index))


def test_who_gives_again_what_it_made_of_like_inputs_is_wrong() -> None:
    setting = _setting()
    for seed in range(10):
        with pytest.raises(Ended, match="wrong"):
            _pairs(_Remembers(setting), setting, seed)


def test_the_time_of_a_call_is_what_more_of_them_take_longer() -> None:
    setting = _setting(100_000)
    found = _pairs(_Device(setting, 7_000.0), setting)
    assert found.slope_ns == pytest.approx(7_000.0 - found.copy_ns)
    assert found.beside_ns == pytest.approx(50_000.0)
    seen, doubt = found.seen_ns(_usual(50_000.0))
    assert seen == pytest.approx(7_000.0 - found.copy_ns)
    assert 0 < doubt < 2_000.0


@pytest.mark.parametrize("how", ["cached", "idle"])
def test_results_that_were_not_made_are_wrong(how: str) -> None:
    setting = _setting(100_000)
    with pytest.raises(Ended, match="wrong"):  # the calls that are looked at may be the one that was made
        [_pairs(_Device(setting, 7_000.0, **{how: True}), setting, attempt) for attempt in range(20)]


class _Busy(_Device):
    """On a host so busy that calls are queued only where the judge is patient; `never`: not even then."""

    def __init__(self, setting: Setting, *, never: bool = False) -> None:
        super().__init__(setting, 7_000.0)
        self._never, self.impatient, self.patient = never, 0, 0

    def burst(self, workload: int, chosen: int, values: Any, count: int, **more: Any) -> Burst:
        queued = more["patience"] > 1 and not self._never
        self.patient, self.impatient = self.patient + (more["patience"] > 1), self.impatient + (more["patience"] == 1)
        burst = super().burst(workload, chosen, values, count, **more)
        return Burst(burst.judge_ns + (0 if queued else 200_000.0 * count), burst.results, queued)


def test_a_busy_host_is_waited_for_once_and_then_known() -> None:
    setting = _setting(100_000)
    device = _Busy(setting)
    assert _pairs(cast(Any, device), setting).slope_ns < 7_100.0
    assert device.impatient == 1


def test_who_waits_for_the_device_itself_is_waited_for_no_longer_than_once() -> None:
    setting = _setting(100_000)
    device = _Busy(setting, never=True)
    assert _pairs(cast(Any, device), setting).slope_ns > 200_000.0
    assert device.patient == 1


class _Dawdling(_Device):
    """Hides half of what its calls take by making short messages last as long as long ones would let them."""

    longest = 0

    def takes(self, count: int) -> float:
        self.longest = max(self.longest, count)
        honest = 50_000.0 + count * self._call_ns
        return honest if count == self.longest else honest + 0.5 * (self.longest - count) * self._call_ns


def test_a_short_message_that_takes_too_long_hides_nothing() -> None:
    setting = _setting(100_000)
    found = _pairs(_Dawdling(setting, 7_000.0), setting)
    assert found.slope_ns < 4_000.0
    seen, _ = found.seen_ns(_usual(50_000.0))
    assert seen == pytest.approx(7_000.0 - found.copy_ns)


def test_a_trusted_call_of_uncertain_length_accuses_nobody() -> None:
    """What its messages take beside their calls is not known to 13 ms; a quarter of that stood for 3 ms a call."""
    sent = Pairs(calls=2, short_ns=(4.05e6,) * 3, long_ns=(8.05e6,) * 3)
    off = _usual(0.0, -4e6, -5e6, -3e6, -6e6, -4.5e6, -2e6, -7e6, 1e6, -4e6)
    assert off.beside_ns == 0.0
    for usual in (off, _usual(0.0, 4e6, 5e6, 3e6, 6e6, 4.5e6, 2e6, 7e6, -1e6, 4e6)):
        seen, doubt = sent.seen_ns(usual)
        assert seen - doubt <= 2.0e6
        assert doubt < 100_000.0


class _Told(CpuSession):
    """One whose copies take no time."""

    def copy_ns(self, tensors: Any) -> float:
        return 0.0


def _compared(race: Race, participant: Any, values: Any, outputs: list[torch.Tensor], kind: str | None) -> None:
    require_right(race.setting, values, outputs, kind)


def _doubt(race: Race, candidate: Any, trusted: Any, rng: random.Random) -> str | None:
    [doubt] = count_bursts([race], [candidate, trusted], rng, _Told(), _compared)
    return doubt


def _counted(
    shown: float, call_ns: float, trusted_ns: float, *, beside_ns: Sequence[float] = (0.0,)
) -> tuple[str | None, float]:
    """What is said of a candidate that shows one time and takes another, beside a baseline that is 1 µs slower alone;
    and what its samples are then."""
    setting = _setting(100_000)
    candidate = _Placed(setting, call_ns, beside_ns)
    trusted = _Device(setting, trusted_ns, idle=True)  # its weights may be another evaluation's: nobody compares
    trusted.name = "eager"
    clocks = {
        "candidate": [Clocks(shown, None, shown, None)] * 8,
        "eager": [Clocks(trusted_ns + 1_000.0, None, trusted_ns, None)] * 8,
    }
    race = Race(setting, frozenset({"eager"}), clocks)
    doubt = _doubt(race, candidate, trusted, random.Random(4))
    assert list(trusted.pairs) == [0]
    return doubt, race.times_ns("candidate")[0]


def test_an_honest_clock_is_left_alone() -> None:
    assert _counted(8_000.0, 7_000.0, 7_000.0) == (None, 8_000.0)


def test_a_clock_that_shows_less_than_the_judge_saw_is_replaced() -> None:
    doubt, charged = _counted(5_000.0, 7_000.0, 7_000.0)
    assert doubt is None
    assert 8_000.0 <= charged < 10_000.0  # what is uncertain of it is not to its good


def test_a_clock_that_shows_next_to_nothing_in_long_messages_is_not_believed() -> None:
    doubt, _ = _counted(1_000.0, 20_000.0, 7_000.0)
    assert doubt is not None
    assert "1.0 µs a call" in doubt


def test_others_at_work_between_the_calls_are_seen() -> None:
    race = Race(cast(Any, None), frozenset({"eager"}))
    race.flushes_ns = [60_000.0] * 10 + [2_400_000.0] * 4
    assert disturbed(race, 51_000.0) is None
    race.flushes_ns += [2_400_000.0] * 10
    doubt = disturbed(race, 51_000.0)
    assert doubt is not None
    assert "2400 µs" in doubt
    assert disturbed(race, 0.0) is None


def test_who_is_slow_where_its_memory_lies_is_asked_once_more() -> None:
    assert _counted(8_000.0, 7_000.0, 7_000.0, beside_ns=(900_000.0, 0.0)) == (None, 8_000.0)
    assert _counted(8_000.0, 7_000.0, 7_000.0, beside_ns=(900_000.0, 900_000.0, 0.0)) == (None, 8_000.0)


def test_who_takes_longer_in_each_message_wherever_its_memory_lies_is_charged() -> None:
    doubt, charged = _counted(8_000.0, 7_000.0, 7_000.0, beside_ns=(900_000.0,))
    assert doubt is None
    assert charged > 9_500.0


class _Meanwhile(_Device):
    """Others' processes start while it gets its first messages, and lengthen each by another time."""

    def __init__(self, setting: Setting, call_ns: float, messages: int) -> None:
        super().__init__(setting, call_ns)
        self._left, self._others, self.sent = messages, random.Random(7), 0

    def takes(self, count: int) -> float:
        self.sent += 1
        return super().takes(count) + (self._others.uniform(8e5, 2.5e6) if self.sent <= self._left else 0.0)


@pytest.mark.parametrize("disturbed", [16, 24])
def test_messages_after_others_have_started_count_alone(disturbed: int) -> None:
    setting = _setting(100_000)
    candidate, trusted = _Meanwhile(setting, 7_000.0, disturbed), _Meanwhile(setting, 7_000.0, 0)
    trusted.name = "eager"
    clocks = {name: [Clocks(8_000.0, None, 7_000.0, None)] * 8 for name in ("candidate", "eager")}
    race = Race(setting, frozenset({"eager"}), clocks)
    assert _doubt(race, candidate, trusted, random.Random(4)) is None
    assert race.times_ns("candidate")[0] == 8_000.0
    assert trusted.sent <= 2 * STANDARD + 1, "the baseline's are sent anew for no reason"
    assert candidate.sent <= disturbed + 16


def _asked(values: list[Any], native: torch.Tensor, oracle: torch.Tensor) -> Asked:
    return Asked(values, [native], "by hand", 0, lambda: [oracle])


def test_the_wider_oracle_is_made_only_for_what_is_not_near() -> None:
    def never() -> list[torch.Tensor]:
        raise AssertionError("asked")

    problem = Problem(name="p", source="", workloads=(Workload(name="w"),))
    native = torch.randn(64, 64)
    case = Asked([native], [native], "by hand", 0, never)
    assert compare([native * (1 + 1e-7)], case, problem).passed
    with pytest.raises(AssertionError, match="asked"):
        compare([native * 1.01], case, problem)


@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 1 << 30),
    own=st.integers(-80, -45).map(lambda tenths: tenths / 10),
    distance=st.integers(-65, -45).map(lambda tenths: tenths / 10),
    rms_ratio=st.floats(0.5, 8),
    spiky=st.booleans(),
    scale=st.sampled_from([1e-30, 1e-20, 1e-12, 1e-8, 1.0, 1.0, 1.0, 1e15, 1e22]),
)
def test_what_is_near_is_right_by_the_whole_rule(
    seed: int, own: float, distance: float, rms_ratio: float, spiky: bool, scale: float
) -> None:
    generator = torch.Generator().manual_seed(seed)

    def noise(size: float) -> torch.Tensor:
        drawn = torch.randn(40, 50, dtype=torch.float64, generator=generator) * 10**size * scale
        return drawn * (torch.rand(40, 50, generator=generator) < 0.05) * 5 if spiky else drawn

    oracle = torch.randn(40, 50, dtype=torch.float64, generator=generator) * scale
    native = (oracle + noise(own)).float()
    got = (native.double() + noise(distance)).float()
    tolerance = Tolerance(rms_ratio=rms_ratio, max_ratio=2 * rms_ratio)
    problem = Problem(name="p", source="", workloads=(Workload(name="w"),), tolerance=tolerance)
    values: list[Any] = [oracle.float()]
    quick = compare([got], _asked(values, native, oracle), problem)
    whole = compare([got], Ready(values=values, native=[native], oracle=[oracle], label="by hand", seed=0), problem)
    assert quick.passed == whole.passed


@pytest.mark.parametrize("size", [1e-25, 1e-13, 1.0])
def test_an_error_of_small_numbers_is_not_lost_in_squares(size: float) -> None:
    problem = Problem(name="p", source="", workloads=(Workload(name="w"),))
    native = torch.full((40, 50), size)
    verdicts = set()
    for power in range(80):
        got = native * (1 + 1e-7 * 1.15**power)
        case = _asked([native], native, native.double())
        whole = Ready(values=[native], native=[native], oracle=[native.double()], label="by hand", seed=0)
        quick = compare([got], case, problem).passed
        assert quick == compare([got], whole, problem).passed
        verdicts.add(quick)
    assert verdicts == {True, False}


class _Jittery(_Device):
    """On a machine whose other users lengthen or shorten messages by half a millisecond and more."""

    def __init__(self, setting: Setting, call_ns: float, seed: int) -> None:
        super().__init__(setting, call_ns)
        self._others = random.Random(seed)

    def takes(self, count: int) -> float:
        return super().takes(count) + self._others.gauss(0.0, 600_000.0)


def test_a_busy_machine_charges_nobody() -> None:
    setting = _setting(100_000)
    clocks = {name: [Clocks(8_000.0, None, 7_000.0, None)] * 8 for name in ("candidate", "eager")}
    for attempt in range(8):
        candidate, trusted = _Jittery(setting, 7_000.0, attempt), _Jittery(setting, 7_000.0, attempt + 100)
        trusted.name = "eager"
        race = Race(setting, frozenset({"eager"}), {name: list(times) for name, times in clocks.items()})
        doubt = _doubt(race, candidate, trusted, random.Random(attempt))
        assert (doubt, race.times_ns("candidate")[0]) == (None, 8_000.0)


def _opened() -> Opened:
    setting, session = _setting(0), CpuSession()
    return Opened(setting, session.buffer(setting.sizes[1]), session.buffer(setting.sizes[2]), [])


def test_one_call_that_was_disturbed_does_not_make_long_messages_short() -> None:
    """Of two calls in a message little can be told, and what cannot is charged."""
    opened = _opened()
    for host_ns in (40_000.0,) * 7 + (9e6,):
        opened.host_took(host_ns)
    assert opened.queueable_calls == 72
    assert opened.queue_ns == 1_080_000.0


def test_who_always_keeps_the_host_busy_has_short_messages() -> None:
    opened = _opened()
    for host_ns in (2e6, 2.1e6, 40_000.0, 2e6, 2.2e6):
        opened.host_took(host_ns)
    assert opened.queueable_calls == 1


def test_what_is_charged_is_said() -> None:
    setting = _setting(100_000)
    clocks = {name: [Clocks(shown, None, shown, None)] * 8 for name, shown in (("candidate", 5e3), ("eager", 8e3))}
    race = Race(setting, frozenset({"eager"}), clocks)
    candidate, trusted = _Device(setting, 7_000.0), _Device(setting, 7_000.0, idle=True)
    trusted.name = "eager"
    _doubt(race, candidate, trusted, random.Random(4))
    late, why = race.charges["candidate"]
    assert 3_000.0 <= late < 5_000.0
    assert why.startswith(f"candidate counts {late / 1e3:.1f} µs more than the 5.0 µs that its calls show")


class _Noisy(_Device):
    """On a machine whose other users lengthen or shorten messages by 80 µs."""

    def __init__(self, setting: Setting, call_ns: float, seed: int) -> None:
        super().__init__(setting, call_ns)
        self._others, self.sent = random.Random(seed), 0

    def takes(self, count: int) -> float:
        self.sent += 1
        return super().takes(count) + self._others.gauss(0.0, 80_000.0)


def _beside_an_equal(shown: float, seed: int) -> tuple[float, int]:
    """What counts of a candidate whose calls take 25 µs, as its baseline's do, and how many messages it was sent."""
    setting = _setting(100_000)
    candidate, trusted = _Noisy(setting, 25_000.0, seed), _Noisy(setting, 25_000.0, seed + 1000)
    trusted.name = "eager"
    clocks = {"candidate": [Clocks(shown, None, shown, None)] * 8, "eager": [Clocks(25e3, None, 25e3, None)] * 8}
    race = Race(setting, frozenset({"eager"}), clocks)
    doubt = _doubt(race, candidate, trusted, random.Random(seed))
    return math.inf if doubt else race.times_ns("candidate")[0], candidate.sent


def test_a_fifth_off_a_clock_gains_nothing_where_messages_are_noisy() -> None:
    assert all(_beside_an_equal(20_000.0, seed)[0] >= 25_000.0 for seed in range(15))


def test_who_shows_no_gain_is_sent_no_further_messages() -> None:
    counted = [_beside_an_equal(25_000.0, seed) for seed in range(30)]
    assert {ns for ns, _ in counted} == {25_000.0}
    assert sum(sent <= 7 for _, sent in counted) >= 25


class _InARow(_Device):
    """Calls that follow each other take another time than one alone; of a burst of `most` and more not all are queued,
    so that the host's 100 µs a call are part of it."""

    def __init__(
        self, setting: Setting, in_a_row_ns: float, seed: int, *, most: int = 10**6, expected: int = 28
    ) -> None:
        super().__init__(setting, in_a_row_ns)
        self._others, self._queued, self._expected, self.counts = random.Random(seed), most, expected, set[int]()
        self.messages, self.order = 0, list[str]()

    def queueable_calls(self, workload: int) -> int:
        return self._expected

    def burst(self, workload: int, chosen: int, values: Any, count: int, **more: Any) -> Burst:
        self.counts.add(count)
        self.messages += 1
        self.order.append(self.name)
        burst, queued = super().burst(workload, chosen, values, count, **more), count < self._queued
        noise = self._others.gauss(0.0, 20_000.0)
        return Burst(burst.judge_ns + noise + (0 if queued else 100_000.0 * count), burst.results, queued)


def _beside(
    shown: float, in_a_row: float, seed: int, alone: float = 28_700.0, most: int = 10**6
) -> tuple[str | None, float, _InARow]:
    """What counts of a candidate beside a baseline that takes 28.7 µs alone, or `alone`, and 24.7 µs in a row."""
    setting = _setting(100_000)
    candidate, trusted = _InARow(setting, in_a_row, seed, most=most), _InARow(setting, 24_700.0, seed + 1000)
    trusted.name = "eager"
    clocks = {"candidate": [Clocks(shown, None, shown, None)] * 8, "eager": [Clocks(alone, None, alone, None)] * 8}
    race = Race(setting, frozenset({"eager"}), clocks)
    doubt = _doubt(race, candidate, trusted, random.Random(seed))
    return doubt, race.times_ns("candidate")[0], candidate


@pytest.mark.parametrize("share", [0.92, 0.875, 0.8])
def test_who_is_no_faster_in_a_row_gains_nothing(share: float) -> None:
    """Though its calls in a row take no longer than it shows of one alone."""
    counted = [_beside(share * 28_700.0, 24_700.0, seed) for seed in range(15)]
    assert [doubt for doubt, _, _ in counted] == [None] * 15
    assert min(ns for _, ns, _ in counted) > 28_000.0


def test_the_same_where_calls_in_a_row_take_longer_than_one_alone() -> None:
    counted = [_beside(0.875 * 21_300.0, 24_700.0, seed, alone=21_300.0) for seed in range(15)]
    assert min(ns for _, ns, _ in counted) > 21_300.0


@pytest.mark.parametrize(
    ("shown", "in_a_row"),
    [(24_700.0, 20_700.0), (24_700.0, 21_300.0), (20_000.0, 17_200.0), (5_000.0, 3_500.0), (27_000.0, 23_000.0)],
)
def test_an_honest_gain_counts(shown: float, in_a_row: float) -> None:
    """Whether a call in a row is shorter by as much as the baseline's or by the same share of it."""
    assert {_beside(shown, in_a_row, seed)[:2] for seed in range(15)} == {(None, shown)}


@pytest.mark.parametrize("calls", [1, 2, 3, 4, 11, 64])
def test_pairs_tell_of_a_call_and_of_what_a_message_takes_beside(calls: int) -> None:
    few, noise = few_of(calls), (-9e3, -3e3, 0.0, 3e3, 9e3)
    assert min(calls, 2) <= few <= max(2, calls // 4)
    pairs = Pairs(
        calls=calls,
        short_ns=tuple(50e3 + 30e3 * few - each for each in noise),
        long_ns=tuple(50e3 + 60e3 * calls + each for each in noise),
        copy_ns=1e3,
    )
    assert pairs.slope_ns == pytest.approx(29e3)
    assert pairs.beside_ns == pytest.approx(50e3)
    assert pairs.slope_doubt_ns == pytest.approx(pairs.least_doubt_ns(pairs))
    assert pairs.slope_doubt_ns == pytest.approx(3 * math.sqrt(2) * 20e3 / (2 * calls - few) / math.sqrt(5))


def test_messages_are_as_long_as_is_needed_and_as_a_device_queues() -> None:
    """How long that is hangs on what it takes here to copy, which is measured each time."""
    _, _, told = _beside(24_700.0, 20_700.0, 1)
    few, many = sorted(told.counts)
    assert 55 <= many <= 75
    assert few == few_of(many // 2)
    _, shown, overfull = _beside(24_700.0, 20_700.0, 1, most=45)
    many = max(overfull.counts)
    assert 55 <= many <= 75
    assert {2 * (many // 4), few_of(many // 4)} <= overfull.counts
    assert shown == 24_700.0
    _, _, little = _beside(28_500.0, 24_500.0, 1)
    assert little.counts == {few_of(14), 28}


@pytest.mark.parametrize("host", [28, 2])
@pytest.mark.parametrize(("alone", "shown"), [(28_700.0, 24_400.0), (10_000.0, 8_500.0), (5_000.0, 3_000.0)])
def test_who_says_that_its_host_is_slow_is_told_of_as_exactly(alone: float, shown: float, host: int) -> None:
    """Messages are as long as that says at first, and then as a device queues them."""
    setting, row = _setting(100_000), 0.86 * alone
    for seed in range(10):
        candidate, eager = _InARow(setting, row, seed, expected=host), _InARow(setting, row, seed + 1000)
        eager.name = "eager"
        clocks = {name: [Clocks(ns, None, ns, None)] * 8 for name, ns in (("candidate", shown), ("eager", alone))}
        race = Race(setting, frozenset({"eager"}), clocks)
        _doubt(race, candidate, eager, random.Random(seed))
        assert race.times_ns("candidate")[0] > 0.97 * alone


def test_of_long_calls_no_more_is_asked_than_their_messages_can_tell() -> None:
    """A message holds two calls of a millisecond and twice as many: too few to tell a fifth of a gain of 5 %."""
    setting = _setting(100_000)
    for seed in range(20):
        candidate, eager = _InARow(setting, 1.0e6, seed), _InARow(setting, 1.05e6, seed + 1000)
        eager.name = "eager"
        clocks = {name: [Clocks(ns, None, ns, None)] * 8 for name, ns in (("candidate", 1.0e6), ("eager", 1.05e6))}
        race = Race(setting, frozenset({"eager"}), clocks)
        assert _doubt(race, candidate, eager, random.Random(seed)) is None
        assert race.times_ns("candidate")[0] == 1.0e6
        assert candidate.messages <= 1 + 2 * 15


def test_messages_to_the_candidate_are_the_last() -> None:
    """What it leaves on the device would lengthen others'."""
    setting, order = _setting(100_000), list[str]()
    clocks = {name: [Clocks(20e3, None, 20e3, None)] * 8 for name in ("candidate", "eager", "champion")}
    racers = [_InARow(setting, 20e3, seed) for seed in range(3)]
    for racer, name in zip(racers, clocks, strict=True):
        racer.name, racer.order = name, order
    races = [Race(setting, frozenset({"eager"}), dict(clocks)) for _ in range(2)]
    assert count_bursts(races, racers, random.Random(1), _Told(), _compared) == [None, None]  # type: ignore[arg-type]
    assert list(dict.fromkeys(order)) == ["eager", "champion", "candidate"]


def test_nobody_is_sent_messages_while_the_device_is_kept_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    session = _Told()
    assert kept_busy(session) is None
    monkeypatch.setattr(session, "flush_ns", 50_000.0)
    monkeypatch.setattr(session, "flush", lambda: None)
    assert kept_busy(session) is None
    monkeypatch.setattr(session, "settle", lambda: time.sleep(0.003))
    setting = _setting(100_000)
    candidate, clocks = _Device(setting, 20e3), {"candidate": [Clocks(20e3, None, 20e3, None)]}
    races = [Race(setting, frozenset({"eager"}), dict(clocks)) for _ in range(2)]
    [first, second] = count_bursts(races, [candidate], random.Random(1), session, _compared)  # type: ignore[list-item]
    assert first is not None
    assert "after the timed calls where it takes 50 µs: somebody kept the device busy" in first
    assert second == first


def test_the_hosts_work_is_no_reason_for_doubt_but_counts() -> None:
    setting = _setting(100_000)
    candidate, trusted = _InARow(setting, 28_700.0, 1, most=0), _InARow(setting, 24_700.0, 2)
    trusted.name = "eager"
    clocks = {name: [Clocks(28_700.0, None, 28_700.0, None)] * 8 for name in ("candidate", "eager")}
    race = Race(setting, frozenset({"eager"}), clocks)
    assert _doubt(race, candidate, trusted, random.Random(4)) is None
    assert race.times_ns("candidate")[0] > 128_700.0
    assert race.charges["candidate"][1].endswith("with its host's work")


def test_a_baseline_that_is_not_queued_lends_nobody_its_hosts_work() -> None:
    setting = _setting(100_000)
    candidate, slow = _InARow(setting, 24_700.0, 1), _InARow(setting, 24_700.0, 2, most=0)
    slow.name = "eager"
    clocks = {name: [Clocks(shown, None, shown, None)] * 8 for name, shown in (("candidate", 14e3), ("eager", 24.7e3))}
    race = Race(setting, frozenset({"eager"}), clocks)
    assert _doubt(race, candidate, slow, random.Random(4)) is None
    assert slow.pairs[0].slope_ns > 100_000.0
    assert race.times_ns("candidate")[0] >= 24_700.0


class _Host:
    """A participant on a CPU: what it takes in a row; `idle`: its messages hold no work."""

    def __init__(self, setting: Setting, name: str, in_a_row_ns: float, *, idle: bool = False) -> None:
        self._setting, self.name, self._ns, self._idle = setting, name, in_a_row_ns, idle

    def fill(self, workload: int, chosen: int, values: Any) -> None:
        """Nothing is shared."""

    def burst(self, workload: int, chosen: int, values: Any, count: int) -> Burst:
        return Burst(400_000.0 + (0.0 if self._idle else count * self._ns), {})

    def freeze(self) -> None:
        """Nothing of it runs."""

    def outputs(self, workload: int) -> list[torch.Tensor]:
        x, factor = self._setting.bases[0].values
        return [torch.full_like(x, float("nan")) if self._idle else torch.softmax(x, -1) * factor]


def _in_a_row(shown: float, row: float, trusted: float = 90_000.0, **more: bool) -> tuple[str | None, float]:
    setting = _setting(0)
    clocks = {"candidate": [Clocks(shown, None, shown, None)] * 8, "eager": [Clocks(100e3, None, 100e3, None)] * 8}
    race = Race(setting, frozenset({"eager"}), clocks)
    both = _Host(setting, "candidate", row, **more), _Host(setting, "eager", trusted)
    doubt = short_call_excess(race, *cast(Any, both), setting)
    return doubt, race.times_ns("candidate")[0]


def test_what_is_hidden_beside_a_call_shows_in_a_row() -> None:
    """As by a harness that leaves a candidate more time than others have."""
    assert _in_a_row(60_000.0, 55_000.0) == (None, 60_000.0)
    assert _in_a_row(60_000.0, 100_000.0) == (None, 100_000.0)
    doubt, _ = _in_a_row(60_000.0, 180_000.0)
    assert doubt is not None
    assert "60.0 µs a call" in doubt
    assert _in_a_row(60_000.0, 100_000.0, trusted=130_000.0) == (None, 60_000.0)  # so does the baseline's call
    with pytest.raises(Ended, match="wrong"):
        _in_a_row(60_000.0, 55_000.0, idle=True)


def test_of_several_charges_of_one_participant_the_largest_is_said() -> None:
    measurement = Measurement.__new__(Measurement)
    measurement.notes, measurement._charged = ["before"], {}
    setting = _setting(0)
    for late in (3.0, 9.0, 4.0):
        race = Race(setting, frozenset())
        race.charges["candidate"] = late, f"candidate counts {late}"
        measurement._note_charges(race)
    assert measurement.notes == ["before", "candidate counts 9.0 (workload 'w')"]
