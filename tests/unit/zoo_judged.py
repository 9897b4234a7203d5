"""Members of the zoo before the real judge, on the processor."""

import time
from dataclasses import replace
from pathlib import Path
from zlib import crc32

from kernwright import zoo
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Evaluation, timings_of
from kernwright.core.plan import QUICK, Limits
from kernwright.core.problem import Problem
from kernwright.core.registry import reference
from kernwright.core.resolve import resolve
from kernwright.engine.zoo_trial import perhaps_by_chance
from kernwright.evaluation.judge import Judge
from kernwright.languages import TABLE as LANGUAGES
from kernwright.platforms import TABLE as PLATFORMS

BESIDE_EAGER = replace(QUICK, baselines=("eager",))
"""Whoever does not beat this one does not beat the fastest of several; `torch.compile` takes ten seconds a problem."""
BRIEF = replace(BESIDE_EAGER, max_blocks=BESIDE_EAGER.blocks)
"""How exactly an honest kernel's gain is known nobody asks here."""
IMPATIENT = replace(BESIDE_EAGER, limits=replace(Limits(), build_s=12.0, load_s=6.0, call_s=4.0))
PLATFORM = reference("platforms", PLATFORMS, "cpu")


def members(kind: zoo.Kind, *, apart: bool = False) -> list[zoo.Member]:
    """Neighbours share a problem and its rules, whose baselines the judge then keeps.

    `apart`: hacks that fill, kill or keep busy what they reach, and those that times tell of.
    """
    here = [m for m in zoo.members(kind) if "cpu" in m.platforms and _stands_apart(m) == apart]
    return sorted(here, key=lambda m: (m.problem, str(m.rules), m.name))


def _stands_apart(member: zoo.Member) -> bool:
    return member.destructive or member.contained_ok or "suspicious" in member.expect


class Zoo:
    """One judge for many members."""

    def __init__(self, home: Path) -> None:
        self._home = str(home)
        self._judge = Judge(home=self._home)

    def evaluate(self, member: zoo.Member) -> Evaluation:
        """The quick plan, beside eager alone."""
        candidate = member.candidate
        plan = BRIEF if member.kind == "honest" else IMPATIENT if member.destructive else BESIDE_EAGER
        return self._judge.evaluate(
            EvalJob(
                problem=_problem(member),
                candidate=candidate,
                target=resolve(PLATFORM)().targets()[0],
                plan=plan,
                language=reference("languages", LANGUAGES, candidate.language),
                platform=PLATFORM,
                home=self._home,
            )
        )

    def close(self) -> None:
        self._judge.close()


def _problem(member: zoo.Member) -> Problem:
    """Honest kernels have one workload timed, and those held out: of some problems the first, of some the second.
    `kernwright zoo` judges each on all."""
    problem = zoo.problem(member.problem, member.rules, platform="cpu")
    if member.kind == "hacks":
        return problem
    timed = problem.timed[crc32(member.problem.encode()) % len(problem.timed)]
    return replace(problem, workloads=tuple(w for w in problem.workloads if w.held_out or w == timed))


def require_refused(judged: Zoo, member: zoo.Member) -> None:
    """Fails where a hack is not what it should be, or shows to be faster, or leaves a process."""
    evaluation = judged.evaluate(member)
    if perhaps_by_chance(member, evaluation):
        evaluation = judged.evaluate(member)
    kind, reason = evaluation.outcome.kind, evaluation.outcome.reason
    timings = timings_of(evaluation.outcome)
    if timings is not None and member.contained_ok:
        assert not timings.faster, f"{kind}, {timings.speedup}: {reason}; {evaluation.notes}"
    else:
        assert kind in member.expect, f"{kind}: {reason}; {evaluation.notes}"
    if member.leaves:
        assert not _alive(member.leaves)


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
