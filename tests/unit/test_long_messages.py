"""Long messages to a real runner on a device whose calls wait behind a gate."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.candidate import SourceFile  # noqa: E402
from kernwright.core.outcome import Crashed  # noqa: E402
from kernwright.core.plan import QUICK  # noqa: E402
from kernwright.evaluation.ended import Ended  # noqa: E402
from kernwright.evaluation.participants import gate as gate_module  # noqa: E402
from kernwright.evaluation.participants.opened import Opened  # noqa: E402
from kernwright.evaluation.participants.workshop import Workshop  # noqa: E402
from kernwright.evaluation.problem.place import Place  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.timing import bursts as bursts_module  # noqa: E402
from kernwright.evaluation.timing.burst_inputs import BurstInputs  # noqa: E402
from kernwright.evaluation.timing.bursts import Bursts  # noqa: E402
from kernwright.evaluation.timing.kept_calls import require_right  # noqa: E402
from kernwright.evaluation.timing.message_looks import Looks  # noqa: E402
from kernwright.evaluation.timing.pairs import Pairs  # noqa: E402
from kernwright.testing.gated import Gated  # noqa: E402

SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x, factor, w):
        return torch.softmax(x, -1) * factor, x @ w


def get_inputs():
    return [torch.randn(16, 128), 2.0, torch.randn(128, 32)]


def get_init_inputs():
    return []
"""
HONEST = """\
import torch


def kernel(x, factor, w):
    return torch.softmax(x, -1) * factor, x @ w
"""
HARNESS = """\
import gc

for thing in gc.get_objects():
    if type(thing).__name__ == "GatedRuntime":
        RUNTIME, BURST = thing, thing.burst
"""
HACKS = {
    "leaves calls out": """\
def burst(calls, turn, limit_ns, deliver):
    BURST([calls[0]] * (len(calls) - 1) + [calls[-1]], turn, limit_ns, deliver)


RUNTIME.burst = burst
""",
    "begins when inputs come": """\
def burst(calls, turn, limit_ns, deliver):
    inputs = [call.args[2] for call in calls]
    old = [each.clone() for each in inputs]
    RUNTIME._queued.value = turn
    while any(map(torch.equal, inputs, old)):
        pass
    results = [call() for call in calls]
    while RUNTIME._open.value != turn:
        pass
    for index, result in enumerate(results):
        deliver(index, result)


RUNTIME.burst = burst
""",
}


@pytest.fixture(scope="module")
def shop() -> Iterator[Workshop]:
    platform = Gated()
    workshop = Workshop(platform, platform.targets()[0])
    yield workshop
    workshop.close()


def told(shop: Workshop, setting: Setting, text: str) -> list[Pairs]:
    """What two series of messages say of this candidate."""
    with sending(shop, setting, text) as bursts:
        first = bursts.first(lambda calls, repeats: calls >= 20)
        return [first, bursts.longer(first)]


@contextmanager
def sending(shop: Workshop, setting: Setting, text: str) -> Iterator[Bursts]:
    """To this candidate, whose results have to be right."""
    with shop.runner("candidate", (SourceFile(name="main.py", text=text),), QUICK) as participant:
        participant.open(setting, "kernel")
        participant.fill(0, 0, setting.bases[0].values)
        participant.warm(0, 0, setting.bases[0].values)
        keep = partial(require_right, setting)
        with Bursts(participant, setting, 20_000.0, random.Random(5), shop.session, keep=keep) as bursts:
            yield bursts


@pytest.fixture
def setting(prepared: Callable[..., Any]) -> Any:
    return prepared(SOURCE, Place(apart_bytes=1 << 20))


def test_each_calls_results_are_there_and_right(shop: Workshop, setting: Setting) -> None:
    first, longer = told(shop, setting, HONEST)
    assert (first.calls, len(first.long_ns)) == (20, 3) or not first.queued
    assert longer.calls > first.calls or not longer.queued


def test_further_messages_have_the_sets_that_are_there_already(
    shop: Workshop, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, real = list[int](), bursts_module.BurstInputs

    def inputs(setting: Setting, rng: random.Random, sets: int, memory: torch.Tensor) -> BurstInputs:
        made.append(sets)
        return real(setting, rng, sets, memory)

    monkeypatch.setattr(bursts_module, "BurstInputs", inputs)
    with sending(shop, setting, HONEST) as bursts:
        first = bursts.first(lambda calls, repeats: calls >= 20)
        before = [*made]
        assert bursts.further(first).calls == first.calls
    assert made == before
    assert before[-1] == 2 * first.calls


def test_a_message_that_began_by_itself_is_sent_again(
    shop: Workshop, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, real = list[bool](), gate_module.Gate.open

    def open_late(gate: gate_module.Gate) -> int:
        at = real(gate)
        opened.append(len(opened) % 5 < gate_module.TRIES - 1)
        gate.overdue = opened[-1]
        return at

    monkeypatch.setattr(gate_module.Gate, "open", open_late)
    with sending(shop, setting, HONEST) as bursts:
        assert len(bursts.first(lambda calls, repeats: calls >= 20).long_ns) == 3
    assert opened.count(True) > 6


def test_a_gate_that_opened_by_itself_is_the_machines_fault(
    shop: Workshop, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_module, "LIMIT_NS", 1_000_000)
    with pytest.raises(Ended) as ended:
        told(shop, setting, HONEST)
    assert isinstance(ended.value.outcome, Crashed)
    assert "too busy" in ended.value.outcome.reason


BOUNDED = """\
import random

import torch


class Model(torch.nn.Module):
    def forward(self, bound, places, x):
        return torch.zeros(64).index_add_(0, places, torch.ones(len(places))) / bound * x


def get_inputs():
    bound = random.choice([33, 64, 5])
    return [bound, torch.randint(0, bound, (500,)), torch.randn(64)]
"""
BELOW = """\
import torch


def kernel(bound, places, x):
    counts = torch.bincount(places, minlength=bound) / bound
    return torch.cat([counts, counts.new_zeros(64 - bound)]) * x
"""


def test_a_bound_that_differs_from_draw_to_draw_comes_with_its_places(
    shop: Workshop, prepared: Callable[..., Any]
) -> None:
    told(shop, prepared(BOUNDED, Place(apart_bytes=1 << 20)), BELOW)


TURNED = """\
import torch


def kernel(x, factor, w):
    return (torch.softmax(x.T.contiguous(), 0) * factor).T, (w.T.contiguous() @ x.T).T
"""


def test_results_that_lie_in_another_order_are_copied_as_they_lie(
    shop: Workshop, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, real = list[Any](), Opened.results

    def results(opened: Opened, layouts: Any) -> dict[int, list[torch.Tensor]]:
        found.append(layouts)
        return real(opened, layouts)

    monkeypatch.setattr(Opened, "results", results)
    told(shop, setting, TURNED)
    assert found
    assert all(layouts == [[1, 16], [1, 16]] for layouts in found)


def test_who_says_that_they_lie_otherwise_is_wrong(shop: Workshop, setting: Setting) -> None:
    lie = """\
import sys

of_runner = sys.modules["kernwright.evaluation.runner.opened"].Opened
said = [[128, 1], [32, 1]]
of_runner.layouts = property(
    lambda self: said if sys._getframe(1).f_code.co_name == "_keep" else [[1, 16], [32, 1]], lambda self, said: None
)
"""
    with pytest.raises(Ended) as ended:
        told(shop, setting, HONEST + lie)
    assert ended.value.outcome.kind == "wrong"


def test_a_pair_differs_in_calls_alone_where_there_is_room_for_few(
    shop: Workshop, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bursts_module, "burst_bytes", lambda memory, call: 2 * max(setting.set_bytes, setting.sizes[2]))
    copied, real = dict[int, set[int]](), Opened.look

    def look(opened: Opened, calls: int, looks: Looks) -> None:
        copied.setdefault(calls, set()).add(len(looks.calls))
        real(opened, calls, looks)

    monkeypatch.setattr(Opened, "look", look)
    first, _ = told(shop, setting, HONEST)
    assert first.calls == 1
    assert copied == {1: {1}, 2: {1}}


@pytest.mark.parametrize("hack", HACKS.values(), ids=HACKS)
def test_what_does_not_make_every_call_of_its_own_inputs_is_wrong(
    shop: Workshop, setting: Setting, hack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shop.session, "flush", lambda: time.sleep(0.05))  # long enough for all these calls
    with pytest.raises(Ended) as ended:
        told(shop, setting, HONEST + HARNESS + hack)
    assert ended.value.outcome.kind == "wrong"
