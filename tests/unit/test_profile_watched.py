"""A candidate under a program that watches it: the same runner, a network that leads nowhere, no way out of limits."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

import watching_profiler

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.plan import QUICK, Limits
from kernwright.core.problem import Problem, Workload
from kernwright.core.profile import Profile
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.runner import namespaces
from kernwright.platforms.cpu import Cpu

pytestmark = pytest.mark.timed

SOURCE = """
import torch

class Model(torch.nn.Module):
    def forward(self, x, scale):
        return x * scale + 1

def get_inputs():
    return [torch.randn(64, 256), 2.0]
"""
KERNEL = """
import torch

def kernel(x, scale):
    return torch.add(torch.mul(x, scale), 1)
"""
NO_NAMESPACES = pytest.mark.skipif(namespaces.probe().user is None, reason="no namespaces here")


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    judge = Judge(home=str(tmp_path_factory.mktemp("home")))
    yield judge
    judge.close()


def looked(judge: Judge, home: Path, profiler: str, text: str = KERNEL) -> Profile:
    watching_profiler.REPORTS.clear()
    job = EvalJob(
        problem=Problem(name="affine", source=SOURCE, workloads=(Workload(name="default"),)),
        candidate=Candidate(language="torch", files=(SourceFile(name="candidate.py", text=text),)),
        target=Cpu().targets()[0],
        plan=replace(QUICK, limits=Limits(load_s=15)),
        language="kernwright.languages.torch:Torch",
        platform="kernwright.platforms.cpu:Cpu",
        home=str(home),
        look="run",
        profiler=f"watching_profiler:{profiler}",
    )
    evaluation = judge.evaluate(job)
    assert evaluation.outcome.kind == "built", evaluation.outcome
    assert evaluation.profile is not None
    return evaluation.profile


@NO_NAMESPACES
def test_the_program_runs_inside_and_its_report_comes_back(judge: Judge, tmp_path: Path) -> None:
    profile = looked(judge, tmp_path, "Watching")
    assert profile.counters["instructions"] == 41, profile.missing
    [report] = watching_profiler.REPORTS
    said = dict(line.rsplit(" ", 1) for line in report.splitlines())
    assert said["code"] == "0"
    assert said["loopback"] == "reached"
    assert said["outside"] != "reached"
    assert said["vsock"] != "reached"
    assert said["name"] == "done"  # a driver names its threads
    assert said["hostname"] != "done"
    assert int(said["rights"], 16) == 0


@NO_NAMESPACES
@pytest.mark.skipif(os.geteuid() != 0, reason="nobody but root has the right to keep")
def test_the_right_to_counters_is_the_only_one_that_is_kept(judge: Judge, tmp_path: Path) -> None:
    looked(judge, tmp_path, "Counting")
    said = dict(line.rsplit(" ", 1) for line in watching_profiler.REPORTS[0].splitlines())
    own = int(Path("/proc/self/status").read_text().partition("CapEff:")[2].split()[0], 16)
    assert int(said["rights"], 16) == own & 1 << 38  # a container's root may not have it
    assert said["hostname"] != "done"
    assert said["outside"] != "reached"


@NO_NAMESPACES
def test_a_program_that_says_nothing_is_asked_for_less(judge: Judge, tmp_path: Path) -> None:
    watching_profiler.Dying.otherwise = "runs"
    try:
        profile = looked(judge, tmp_path, "Dying")
    finally:
        watching_profiler.Dying.otherwise = ""
    assert any("counters" in text and "status 3" in text for text in profile.missing), profile.missing
    assert "its lock is taken" in watching_profiler.REPORTS[0]  # where there is no report, what it printed
    assert profile.counters["instructions"] == 41


@NO_NAMESPACES
def test_a_program_that_never_starts_the_candidate_is_ended(judge: Judge, tmp_path: Path) -> None:
    profile = looked(judge, tmp_path, "Staying")
    assert any("took longer than" in text for text in profile.missing), profile.missing
    assert profile.counters["time_ns"] > 0  # what was seen before stays


def test_one_that_is_not_permitted_is_a_sentence_and_the_rest_is_there(judge: Judge, tmp_path: Path) -> None:
    profile = looked(judge, tmp_path, "Refused")
    assert "watching: not permitted" in profile.missing
    assert profile.counters["time_ns"] > 0
    assert profile.counters["memory_roof"] > 0


@NO_NAMESPACES
def test_a_candidate_that_lies_about_the_report_is_only_believed_in_figures(judge: Judge, tmp_path: Path) -> None:
    """It shares the folder with the program, so it can write there what it likes; nothing but numbers come of it."""
    text = KERNEL + '\nimport pathlib\npathlib.Path("report.txt").write_text("instructions 1e999\\n" * 100_000)\n'
    profile = looked(judge, tmp_path, "Watching", text)
    assert profile.counters["instructions"] == 41  # the program writes last
    assert len(watching_profiler.REPORTS[0]) < 60_000


@NO_NAMESPACES
def test_a_candidate_that_ends_itself_under_the_program(judge: Judge, tmp_path: Path) -> None:
    watched = "import os\nWATCHED = os.path.exists('channel')\n\n"
    text = watched + KERNEL.replace("    return", "    if WATCHED:\n        os._exit(7)\n    return")
    profile = looked(judge, tmp_path, "Watching", text)
    assert any(text.startswith("counters: ") for text in profile.missing), profile.missing
    assert profile.counters["time_ns"] > 0
