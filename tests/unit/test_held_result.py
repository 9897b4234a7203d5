"""A kept result: a view of an input changes with it, which a rule allows; a buffer that is used again is none."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch")

from one_line import one_line  # noqa: E402

from kernwright.core.candidate import Candidate, SourceFile  # noqa: E402
from kernwright.core.plan import QUICK  # noqa: E402
from kernwright.core.problem import Rules  # noqa: E402
from kernwright.engine import intake  # noqa: E402
from kernwright.engine.targets import target_of  # noqa: E402
from kernwright.evaluation.checks.held_result import HeldResult  # noqa: E402
from kernwright.evaluation.judge import Judge  # noqa: E402
from kernwright.evaluation.participants.laying_out import SETS  # noqa: E402
from kernwright.evaluation.participants.opening import opening  # noqa: E402
from kernwright.evaluation.participants.participant import Participant  # noqa: E402
from kernwright.evaluation.problem.setting import Setting  # noqa: E402
from kernwright.evaluation.runner.opened import Opened  # noqa: E402
from kernwright.evaluation.runner.structure import view  # noqa: E402
from kernwright.evaluation.timing.clocks import Clocks  # noqa: E402
from kernwright.evaluation.trial import Trial  # noqa: E402
from kernwright.problems.file import File  # noqa: E402

SOURCE = one_line("y, x", "torch.randn(5), torch.randn(8, 6)", "(y * 2, x.t().contiguous())")
ALIASED = "output 1 shares memory with input 1"
OVERWRITTEN = "a later call overwrote an earlier result"
Kernel = Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]


class _Beside:
    """A participant in this process, whose results are copied to where the judge looks as a runner does it."""

    def __init__(self, setting: Setting, kernel: Kernel) -> None:
        inputs, self._outputs = (torch.zeros(size, dtype=torch.uint8) for size in setting.sizes[1:])
        self._opened = Opened(inputs, self._outputs, opening(setting, "kernel", compiled=False), kernel, {})
        self._sets = self._opened._sets
        self._slots = [view(self._outputs, spec) for spec in setting.output_specs]
        self._held: list[torch.Tensor] = []

    def fill(self, workload: int, chosen: int, values: list[Any], pattern: int = 0xFF) -> None:
        for slot, value in zip(self._sets[chosen], values, strict=True):
            slot.copy_(value)
        self._outputs.fill_(pattern)

    def call(self, workload: int, chosen: int, values: Any, *, hold: bool, **_: Any) -> tuple[Clocks, list[Any]]:
        leaves = [*self._opened.function(*self._sets[chosen])]
        assert self._opened.deliver(leaves)
        self._held = leaves if hold else self._held
        return Clocks(8e3, 9e3, 9e3, 9e3, late_ns=0.0, queued=True), self.outputs(workload)

    def held(self, workload: int) -> None:
        assert self._opened.deliver(self._held)
        self._held = []

    def outputs(self, workload: int) -> list[torch.Tensor]:
        return [slot.clone() for slot in self._slots]

    def unchanged(self, workload: int, chosen: int, values: list[Any]) -> torch.Tensor:
        return torch.ones(len(values), dtype=torch.bool)


def _reusing(count: int) -> Kernel:
    buffers, number = [torch.empty(6, 8) for _ in range(count)], 0

    def kernel(y: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        nonlocal number
        number += 1
        return y * 2, buffers[number % count].copy_(x.t())

    return kernel


def _half(y: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A view beside a result that every call overwrites."""
    return _DOUBLED.copy_(y * 2), x.t()


_DOUBLED = torch.empty(5)


@pytest.mark.parametrize(
    ("kernel", "allowed", "said"),
    [
        (lambda y, x: (y * 2, x.t().contiguous()), False, ""),
        (lambda y, x: (y * 2, x.t().contiguous()), True, ""),
        (lambda y, x: (y * 2, x.t()), False, ALIASED),
        (lambda y, x: (y * 2, x.t()), True, ""),
        (_reusing(1), False, OVERWRITTEN),
        (_reusing(1), True, OVERWRITTEN),
        (_reusing(2), True, OVERWRITTEN),
        (_reusing(3), True, OVERWRITTEN),
        (_half, False, ALIASED),
        (_half, True, OVERWRITTEN),
    ],
)
def test_a_view_of_an_input_is_told_from_a_buffer_that_is_used_again(
    prepared: Callable[..., Setting], kernel: Kernel, allowed: bool, said: str
) -> None:
    setting = prepared(SOURCE)
    trial = Trial(setting, cast(Participant, _Beside(setting, kernel)), Rules(alias_inputs=allowed), random.Random(2))
    first, later = setting.bases[:2]
    trial.keep(first)
    for _ in range(7):
        trial.run(later.values)
    found = HeldResult().verify(trial)
    assert found.passed is not bool(said)
    assert found.detail.startswith(said), found.detail


@pytest.mark.parametrize("zeros", [False, True])
def test_a_view_is_seen_where_its_input_is_as_it_was(prepared: Callable[..., Setting], zeros: bool) -> None:
    """The latest calls may have been made with the very input again, beside another that changed."""
    setting = prepared(SOURCE)
    y, x = setting.bases[0].values
    first = setting.case([y, torch.zeros_like(x) if zeros else x], "", 0)
    kernel = lambda y, x: (y * 2, x.t())  # noqa: E731
    trial = Trial(setting, cast(Participant, _Beside(setting, kernel)), Rules(), random.Random(2))
    trial.keep(first)
    for number in range(2 * SETS):
        trial.run([y + number, first.values[1]])
    found = HeldResult().verify(trial)
    assert not found.passed
    assert found.detail.startswith(ALIASED), found.detail


def test_not_a_number_in_an_input_is_no_change(prepared: Callable[..., Setting]) -> None:
    setting = prepared(SOURCE)
    case = replace(setting.bases[0], values=[torch.full((5,), torch.nan), setting.bases[0].values[1]])
    kernel = lambda y, x: (y * 2, x.t())  # noqa: E731
    trial = Trial(setting, cast(Participant, _Beside(setting, kernel)), Rules(), random.Random(2))
    assert trial.moving_with(case, [0, 1]) == [1]
    assert trial.moving_with(case, [0]) == []


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory, informed: Callable[[Path], Path]) -> Iterator[Judge]:
    judge = Judge(str(informed(tmp_path_factory.mktemp("home"))))
    yield judge
    judge.close()


@pytest.mark.timed
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("allowed", "said"), [(True, ""), (False, f"held_result: {ALIASED}")])
def test_a_judge_takes_a_view_where_the_rules_allow_it(judge: Judge, tmp_path: Path, allowed: bool, said: str) -> None:
    path, plan = tmp_path / "problem.py", replace(QUICK, baselines=("eager",))
    path.write_text(SOURCE)
    text = SOURCE.replace("class Model(", "class ModelNew(").replace(".contiguous()", "")
    candidate = Candidate(language="torch", files=(SourceFile(name="candidate.py", text=text),))
    problem = replace(File().load(str(path)), rules=Rules(alias_inputs=allowed))
    outcome = judge.evaluate(intake.job_of(problem, candidate, target_of("cpu"), plan, tmp_path)).outcome
    assert (outcome.kind == "measured") is allowed, outcome.reason
    assert outcome.reason.startswith(said)
