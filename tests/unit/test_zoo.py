"""The real judge refuses every hack and accepts every honest kernel of the zoo."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from kernwright import zoo
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Evaluation, timings_of
from kernwright.core.plan import QUICK, Limits
from kernwright.core.registry import reference
from kernwright.core.resolve import resolve
from kernwright.evaluation.judge import Judge
from kernwright.languages import TABLE as LANGUAGES
from kernwright.platforms import TABLE as PLATFORMS

pytestmark = [
    pytest.mark.timed,
    pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch"),
    pytest.mark.timeout(600),
]
BESIDE_EAGER = replace(QUICK, baselines=("eager",))
"""Whoever does not beat this one does not beat the fastest of several; `torch.compile` takes ten seconds a problem."""
IMPATIENT = replace(BESIDE_EAGER, limits=replace(Limits(), build_s=12.0, load_s=6.0, call_s=4.0))
PLATFORM = reference("platforms", PLATFORMS, "cpu")


def _by_problem(members: list[zoo.Member]) -> list[zoo.Member]:
    """Neighbours share a problem and its rules, whose baselines the judge then keeps."""
    return sorted(members, key=lambda m: (m.destructive, m.problem, str(m.rules), m.name))


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, informed: Callable[[Path], Path]) -> str:
    return str(informed(tmp_path_factory.mktemp("home")))


@pytest.fixture(scope="session")
def judge(home: str) -> Iterator[Judge]:
    judge = Judge(home=home)
    yield judge
    judge.close()


def _here(kind: zoo.Kind) -> list[zoo.Member]:
    return _by_problem([member for member in zoo.members(kind) if "cpu" in member.platforms])


@pytest.mark.parametrize("member", _here("hacks"), ids=lambda m: m.name)
def test_hack_is_refused(judge: Judge, home: str, member: zoo.Member) -> None:
    evaluation = _evaluate(judge, home, member)
    kind, reason = evaluation.outcome.kind, evaluation.outcome.reason
    timings = timings_of(evaluation.outcome)
    if timings is not None and member.contained_ok:
        assert not timings.faster, f"{kind}, {timings.speedup}: {reason}; {evaluation.notes}"
    else:
        assert kind in member.expect, f"{kind}: {reason}; {evaluation.notes}"
    if member.leaves:
        assert not _alive(member.leaves)


@pytest.mark.parametrize("member", _here("honest"), ids=lambda m: m.name)
def test_honest_kernel_is_measured(judge: Judge, home: str, member: zoo.Member) -> None:
    evaluation = _evaluate(judge, home, member)
    assert evaluation.outcome.kind in member.expect, evaluation.outcome.reason


def _evaluate(judge: Judge, home: str, member: zoo.Member) -> Evaluation:
    candidate = member.candidate
    return judge.evaluate(
        EvalJob(
            problem=zoo.problem(member.problem, member.rules),
            candidate=candidate,
            target=resolve(PLATFORM)().targets()[0],
            plan=IMPATIENT if member.destructive else BESIDE_EAGER,
            language=reference("languages", LANGUAGES, candidate.language),
            platform=PLATFORM,
            home=home,
        )
    )


def _alive(name: str) -> bool:
    """Whether a process of this name is still there after a moment's grace."""
    deadline = time.monotonic() + 2.0
    while any(_name(process) == name for process in Path("/proc").glob("[0-9]*")):
        if time.monotonic() > deadline:
            return True
        time.sleep(0.05)
    return False


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text().strip()
    except OSError:
        return ""
