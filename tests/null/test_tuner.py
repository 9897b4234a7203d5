"""The tuner: which settings it tries, what it proposes, and that a resumed run tries the same ones."""

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from kernwright.core.brief import Brief, Draft, Earlier, Proposed, Unusable
from kernwright.core.candidate import Candidate, SourceFile, knobs_of
from kernwright.core.errors import UserError
from kernwright.core.inbox import Told
from kernwright.core.outcome import BuildFailed, Crashed, Evaluation, Interval, Measured, Timings
from kernwright.core.ports import OperatorContext
from kernwright.core.problem import Problem, Workload
from kernwright.core.resolve import resolve
from kernwright.search.operators import TABLE
from kernwright.search.operators.tuner import Tuner

SMALL = "A = 1\nKNOBS = {'A': [1, 2, 4]}\n\ndef kernel(x):\n    return x\n"
LARGE = (
    "A, UNUSED = 1, 0\nA = 8\nB = 'x'\nC = True\n"
    "KNOBS = {'A': [1, 2, 4, 8, 16, 32], 'B': ['x', 'y', 'z'], 'C': [True, False]}\n"
)
Judge = Callable[[dict[str, Any]], float | str | None]
GPU_KERNEL = Path(__file__).parents[2] / "examples" / "candidates" / "softmax_triton_knobs.py"


def evaluation(speedup: float | str | None) -> Evaluation:
    """Of a candidate with this speedup, of one that died, or of one that failed to build for the reason given."""
    outcome: Measured | Crashed | BuildFailed = Crashed(stage="check", log="", reason="it died")
    if isinstance(speedup, str):
        outcome = BuildFailed(log="", reason=speedup)
    elif speedup is not None:
        interval = Interval(estimate=speedup, low=speedup, high=speedup, n=8)
        timings = Timings(
            workloads=(),
            speedup=interval,
            speedup_call=interval,
            speedup_eager=None,
            speedup_compile=None,
            speedup_champion=None,
            baseline="eager",
            faster=True,
            aa_floor=0.0,
            cache="cold",
            threads=1,
            samples=(),
        )
        outcome = Measured(timings=timings, reason="")
    return Evaluation(
        candidate="", problem="", plan="quick", target="t", machine="m", judge_version="1", outcome=outcome
    )


class Bench:
    """A context whose trials are scored by a function of the knobs."""

    def __init__(self, judge: Judge, budget: int = 10**6) -> None:
        self.judge, self.budget = judge, budget
        self.tried: list[dict[str, Any]] = []
        self.kept: dict[str, Candidate] = {}

    def context(self) -> OperatorContext:
        return OperatorContext(
            home=Path(),
            run="run",
            used=frozenset(),
            start=(),
            put=self._put,
            get=self.kept.__getitem__,
            trial=self._trial,
            quiet=self._quiet,
            answers=self._answers,
        )

    def _put(self, candidate: Candidate) -> str:
        self.kept[candidate.id] = candidate
        return candidate.id

    async def _trial(self, node: int, candidate: Candidate) -> Evaluation | None:
        if len(self.tried) >= self.budget:
            return None
        values = {knob.name: knob.default for knob in knobs_of(candidate)}
        self.tried.append(values)
        return evaluation(self.judge(values))

    async def _answers(self, node: int) -> Told:
        raise NotImplementedError

    @contextlib.asynccontextmanager
    async def _quiet(self) -> AsyncIterator[None]:
        yield

    def tune(self, text: str, *, own: float | None = 1.0, trials: int = 12, seed: int = 3) -> Draft:
        candidate = Candidate(language="torch", files=(SourceFile(name="c.py", text=text),))
        brief = Brief(
            run="run",
            node=7,
            intent="tune",
            problem=Problem(name="p", source="", workloads=(Workload(name="default"),)),
            target="t",
            parents=(Earlier(node=2, candidate=candidate, evaluation=evaluation(own)),),
            seed=seed,
        )
        return asyncio.run(Tuner(self.context(), trials=trials).propose(brief))


def test_table_names_the_operator() -> None:
    assert resolve(TABLE["tuner"]) is Tuner


def test_a_small_grid_is_tried_whole_without_the_defaults() -> None:
    bench = Bench(lambda v: float(v["A"]))
    draft = bench.tune(SMALL)
    assert sorted(v["A"] for v in bench.tried) == [2, 4]
    assert isinstance(draft, Proposed)
    assert draft.knobs == ("A",)
    assert bench.kept[draft.candidate].main.text == SMALL.replace("A = 1", "A = 4")
    assert "A=4: 4.000x in the best of 2 trials" in draft.summary


def test_a_large_grid_is_searched_within_the_trials_and_never_twice() -> None:
    bench = Bench(lambda v: 1.0 + math.log2(v["A"]) / 8 + (v["B"] == "z") - 0.5 * v["C"])
    draft = bench.tune(LARGE, own=1.1, trials=20)
    assert len(bench.tried) == 20
    settings = [tuple(v.values()) for v in bench.tried]
    assert len(set(settings)) == 20
    assert (8, "x", True) not in settings
    assert isinstance(draft, Proposed)
    best = max(bench.tried, key=bench.judge)
    assert {k.name: k.default for k in knobs_of(bench.kept[draft.candidate])} == best


def test_a_gpu_kernel_is_tuned_as_it_is() -> None:
    """Block sizes, warps, stages, a switch and a text; what does not build is a trial like another."""

    def judge(v: dict[str, Any]) -> float | str:
        if v["BLOCK"] * v["NUM_STAGES"] > 16384:
            return "out of resource: shared memory, required 262144, hardware limit 232448"
        warps = abs(math.log2(v["NUM_WARPS"]) - 2)
        return 2.0 - 0.2 * warps + 0.1 * (not v["KEEP"]) + 0.1 * (v["EVICTION"] == "evict_first")

    text = GPU_KERNEL.read_text()
    bench = Bench(judge)
    draft = bench.tune(text, own=1.8, trials=40)
    assert isinstance(draft, Proposed)
    assert len(bench.tried) == 40
    assert any(isinstance(judge(v), str) for v in bench.tried), "no trial failed to build"
    best = max((v for v in bench.tried if not isinstance(judge(v), str)), key=judge)
    child = bench.kept[draft.candidate]
    assert {k.name: k.default for k in knobs_of(child)} == best
    changed = [line for line in child.main.text.splitlines() if line not in text.splitlines()]
    assert sorted(changed) == sorted(f"{name} = {best[name]!r}" for name in draft.knobs)
    assert {type(values[name]) for values in bench.tried for name in ("KEEP", "EVICTION")} == {bool, str}


def test_flags_of_a_compiler_are_knobs() -> None:
    text = "FAST = ''\nKNOBS = {'FAST': ['', '--use_fast_math', '-lineinfo \"x\"']}\nlib = load('k.cu', flags=[FAST])\n"
    bench = Bench(lambda v: 1.0 + len(v["FAST"]))
    draft = bench.tune(text)
    assert isinstance(draft, Proposed)
    assert bench.kept[draft.candidate].main.text == text.replace("FAST = ''", "FAST = '--use_fast_math'")


def test_only_builds_that_fail_are_said_and_not_raised() -> None:
    draft = Bench(lambda v: "out of resource: shared memory").tune(SMALL)
    assert isinstance(draft, Unusable)
    assert "none of 2 trials gave a kernel" in draft.reason


def test_a_resumed_run_tries_the_same_settings() -> None:
    def judge(v: dict[str, Any]) -> float | None:
        return None if v["A"] == 4 else 1.0 + v["A"] / 10

    whole, killed, other = Bench(judge), Bench(judge, budget=5), Bench(judge)
    whole.tune(LARGE)
    killed.tune(LARGE)
    other.tune(LARGE, seed=4)
    assert killed.tried == whole.tried[:5]
    assert other.tried != whole.tried


def test_spent_budget_gives_the_best_so_far() -> None:
    bench = Bench(lambda v: 2.0, budget=1)
    draft = bench.tune(LARGE)
    assert isinstance(draft, Proposed)
    assert "best of 1 trials" in draft.summary


def test_parent_without_a_time_is_beaten_by_any_measured_setting() -> None:
    draft = Bench(lambda v: 0.5 if v["A"] == 2 else None).tune(SMALL, own=None)
    assert isinstance(draft, Proposed)
    assert draft.summary.startswith("A=2")


@pytest.mark.parametrize(
    ("text", "judge", "budget", "reason"),
    [
        (SMALL, lambda v: 0.9, 9, "the defaults were already best of 2 trials"),
        (SMALL, lambda v: None, 9, "none of 2 trials"),
        (SMALL, lambda v: 2.0, 0, "before the first trial"),
        ("def kernel(x): return x\n", lambda v: 2.0, 9, "declares no knobs"),
        ("A = 1\nKNOBS = {'A': [1]}\n", lambda v: 2.0, 9, "declares no knobs"),
        ("KNOBS = {'A': [1, 2]}\n", lambda v: 2.0, 9, "cannot be read"),
    ],
)
def test_nothing_to_propose(text: str, judge: Judge, budget: int, reason: str) -> None:
    draft = Bench(judge, budget).tune(text)
    assert isinstance(draft, Unusable)
    assert reason in draft.reason


def test_trials_must_be_positive() -> None:
    with pytest.raises(UserError, match="at least 1"):
        Tuner(Bench(lambda v: 1.0).context(), trials=0)
