"""Results that must stay what they are while nobody is told that somebody looks."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from one_line import one_line

torch = pytest.importorskip("torch")

from kernwright.core.outcome import Wrong  # noqa: E402
from kernwright.core.plan import Limits  # noqa: E402
from kernwright.core.problem import Rules  # noqa: E402
from kernwright.evaluation.ended import Ended  # noqa: E402
from kernwright.evaluation.participants.given import LARGE_BYTES, Drop, GivenResults  # noqa: E402
from kernwright.evaluation.participants.participant import Participant  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.timing.clocks import Clocks  # noqa: E402
from kernwright.evaluation.timing.drops import FEWEST, charge_drops  # noqa: E402
from kernwright.evaluation.timing.lasting import looks_again, not_given, require_lasting  # noqa: E402
from kernwright.evaluation.timing.race import Race  # noqa: E402

Kernel = Callable[[torch.Tensor], torch.Tensor]
TWICE = one_line("x", "torch.randn(4, 8)", "x * 2")
SAME = one_line("x", "torch.randn(4, 8)", "x.t()")
_BUFFER = torch.empty(4, 8)


class _Here:
    """A participant whose process is this one; it keeps two results, as a runner does."""

    reads = True

    def __init__(self, kernel: Kernel) -> None:
        self._kernel, self._inputs, self._calls = kernel, torch.empty(4, 8), list[Any]()

    def call(self, values: list[torch.Tensor]) -> None:
        self._inputs.copy_(values[0])
        made = self._kernel(self._inputs)
        self._calls = [*self._calls[-1:], (made, made.clone())]

    def latest(self, back: int) -> Any:
        if len(self._calls) <= back:
            return None
        made, was = self._calls[-1 - back]
        return [was], [made]

    def refill(self, workload: int, chosen: int, values: list[Any]) -> None:
        self._inputs.copy_(values[0])


def looked(setting: Setting, kernel: Kernel, calls: int) -> str:
    """What is said of a kernel when so many calls were made."""
    here = _Here(kernel)
    try:
        for base in setting.bases[:calls]:
            here.call(base.values)
        require_lasting(setting, cast(Any, here), 0, base.values)
    except Ended as ended:
        return cast(Wrong, ended.outcome).reason
    return ""


@pytest.mark.parametrize(
    ("source", "kernel", "calls", "said"),
    [
        pytest.param(TWICE, lambda x: x * 2, 2, "", id="its own each time"),
        pytest.param(TWICE, lambda x: torch.mul(x, 2, out=_BUFFER), 2, "overwrote a result", id="one buffer"),
        pytest.param(TWICE, lambda x: torch.mul(x, 2, out=_BUFFER), 1, "", id="one buffer, once"),
        pytest.param(TWICE, lambda x: x[:], 1, "shares memory with an input", id="a view"),
        pytest.param(SAME, lambda x: x.t(), 2, "", id="a view by the reference too"),
    ],
)
def test_who_does_not_last_is_told_so(
    prepared: Callable[..., Setting], source: str, kernel: Kernel, calls: int, said: str
) -> None:
    found = looked(prepared(source), kernel, calls)
    assert said in found
    assert bool(said) is bool(found)


def test_the_rules_may_allow_it(prepared: Callable[..., Setting]) -> None:
    buffer = lambda x: torch.mul(x, 2, out=_BUFFER)  # noqa: E731
    assert looked(prepared(TWICE, rules=Rules(reuse_outputs=True)), buffer, 2) == ""
    for allowed in (False, True):
        setting = prepared(TWICE, rules=Rules(alias_inputs=allowed))
        looks = [looks_again(setting, cast(Any, _Here(buffer)), random.Random(seed)) for seed in range(100)]
        assert any(looks) is not allowed


def test_what_is_an_input_by_the_reference_is_known(prepared: Callable[..., Setting]) -> None:
    for source, own in ((TWICE, True), (SAME, False)):
        setting = prepared(source)
        assert not_given(setting, setting.bases[0].values) == [own]


def test_large_results_of_the_call_before_are_let_go_in_a_message_of_their_own() -> None:
    small, large = ([torch.empty(n, dtype=torch.uint8)] for n in (LARGE_BYTES - 1, LARGE_BYTES))
    for outputs in (small, large):
        given, opened = GivenResults(), cast(Any, object())
        given.add(opened, {}, outputs)
        assert not given.let_go()
        given.add(opened, {}, small)
        assert given.let_go() is (outputs is large)
        assert not given.let_go()
        given.add(cast(Any, object()), {}, small)
        assert given.again(1, lambda read: []) is None  # of another workload
        given.forget()
        assert given.again(0, lambda read: []) is None


def drops(own: Sequence[Drop], others: Sequence[Drop], **more: Any) -> float:
    race = Race(cast(Any, SimpleNamespace(workload=SimpleNamespace(name="large"))), frozenset({"eager"}))
    race.clocks = {name: [Clocks(1e6, None, 1.1e6, None)] * 8 for name in ("candidate", "eager")}
    race.drops, race.went_on_ns = {"candidate": [*own], "eager": [*others]}, more
    charges = charge_drops(race, "candidate", "eager").values()
    longer = race.times_ns("candidate")[0] - 1e6
    assert longer == pytest.approx(sum(charge for charge, _ in charges))
    assert race.times_ns("eager")[0] == 1e6
    return longer


def alone(*used_ns: float) -> list[Drop]:
    """On a machine where nobody else is at work."""
    return [(ns, ns + 2e5) for ns in used_ns]


def test_what_is_done_when_a_result_is_given_back_counts() -> None:
    usual = alone(*[1e5] * FEWEST)
    assert drops(alone(*[4e5] * FEWEST), usual) == 3e5
    assert drops(alone(9e6, *[1e5] * FEWEST), usual) == 0.0
    assert drops(alone(*[1.6e6, *[1e5] * 4] * 4), alone(*[1e5] * 20)) == pytest.approx(3 * 1.5e6 / 19)
    assert drops(alone(*[1.4e5] * FEWEST), usual) == 0.0  # so little is the allocator's
    assert drops(alone(*[4e5] * (FEWEST - 1)), usual) == 0.0
    assert drops([], []) == 0.0


def test_what_goes_on_after_a_reply_counts() -> None:
    usual = [2e4] * FEWEST
    assert drops([], [], candidate=[7e5] * FEWEST, eager=usual) == pytest.approx(6.8e5)
    assert drops([], [], candidate=[5e4] * FEWEST, eager=usual) == 0.0  # threads take a while to see a signal
    assert drops([], [], candidate=[2e6, *usual], eager=usual) == 0.0
    both = drops(alone(*[4e5] * FEWEST), alone(*[1e5] * FEWEST), candidate=[7e5] * FEWEST, eager=usual)
    assert both == pytest.approx(3e5 + 6.8e5)


def test_others_work_on_the_machine_is_charged_to_nobody() -> None:
    """The clock of a busy machine shows milliseconds more, of one as of another."""
    rng, charged = random.Random(1), 0
    for _ in range(200):
        own, others = ([(rng.gauss(1.5e5, 4e4), rng.expovariate(1 / 5e6)) for _ in range(44)] for _ in range(2))
        charged += drops(own, others) > 0
    assert charged <= 10


def test_a_process_that_came_and_went_is_seen_by_the_clock() -> None:
    rng = random.Random(2)
    own, others = ([(1e5, rng.gauss(6e5, 1.3e5)) for _ in range(44)] for _ in range(2))
    late = [(used, taken + 4e5) for used, taken in own]
    assert drops(late, others) == pytest.approx(4e5, rel=0.2)
    # Sleeps, which cost nothing, make it no less sure.
    assert drops([(used, taken + rng.lognormvariate(13.8, 5)) for used, taken in late], others) > 4e5


def test_who_gives_back_a_result_stands_still_before_inputs_come(tmp_path: Path) -> None:
    done, used_ns = list[str](), iter([7, 50])
    runner = SimpleNamespace(
        thaw=lambda: done.append("goes"),
        send=lambda message, fds: done.append(message["op"]),
        receive=lambda limit_s, **_: {"ok": True},
        freeze=lambda: done.append("stands"),
        cpu_ns=lambda: next(used_ns),
    )
    one = Participant("candidate", cast(Any, runner), cast(Any, SimpleNamespace(bursts=None)), Limits(), tmp_path)
    one._opened[0] = cast(Any, SimpleNamespace(fill=lambda *_: done.append("inputs")))
    for given in (0, 1, 2):
        one._given.forget()
        for _ in range(given):
            one._given.add(one._opened[0], {}, [torch.empty(LARGE_BYTES, dtype=torch.uint8)])
        done.clear()
        one.fill(0, 0, [])
        assert done == (["goes", "drop", "stands", "inputs"] if given == 2 else ["inputs"])
        assert (one.drop is not None) is (given == 2)
    assert one.drop is not None
    used, taken = one.drop
    assert used == 43
    assert taken > 0
