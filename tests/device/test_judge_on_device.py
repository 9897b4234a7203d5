"""Good and bad candidates in turn: each bad one ends as it must, and the next is judged as if nothing had happened."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import UserError
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Evaluation, timings_of
from kernwright.core.plan import QUICK, Limits
from kernwright.engine.targets import target_of
from kernwright.evaluation.judge import Judge
from kernwright.problems.file import File

pytestmark = [pytest.mark.device, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")]
PLAN = replace(QUICK, limits=Limits(load_s=8.0, call_s=4.0))
PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)


def get_inputs():
    return [torch.rand(4096, 4096)]


def get_init_inputs():
    return []
"""
KERNEL = """\
import torch
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * stride + i, e / tl.sum(e, axis=0), mask=i < n)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        softmax[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=4096, num_warps=8)
        return y
"""
HANG = """\
import torch
import triton
import triton.language as tl


@triton.jit
def hang(flag):
    while tl.load(flag, volatile=True) < 100.0:
        pass


class ModelNew(torch.nn.Module):
    def forward(self, x):
        hang[(1,)](torch.zeros(1, device=x.device))
        return torch.softmax(x, 1)
"""
STREAM = """\
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.side = torch.cuda.Stream()

    def forward(self, x):
        y = torch.empty_like(x)
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            y.copy_(torch.softmax(x, 1))
        torch.cuda.current_stream().wait_stream(self.side)
        return y
"""
HUNGRY = """\
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        torch.empty(1 << 45, dtype=torch.uint8, device=x.device)
        return torch.softmax(x, 1)
"""
OVERWRITES = """\
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.softmax(x, 1)
        x.zero_()
        return y
"""
COUNTS = PROBLEM.replace("torch.softmax(x, dim=1)", "torch.bincount(x, minlength=256)").replace(
    "torch.rand(4096, 4096)", "torch.randint(0, 256, (1 << 20,), dtype=torch.uint8)"
)
SHORT_COUNTS = """\
import torch


def kernel(x):
    return torch.bincount(x, minlength=256) & 0xFFFF
"""
BAD = {
    "out of bounds": (KERNEL.replace("tl.store(y +", "tl.store(y + 100000000000 +"), "triton", "crashed", "illegal"),
    "hangs": (HANG, "triton", "timed_out", "took longer than"),
    "out of memory": (HUNGRY, "torch", "crashed", "out of memory"),
    "writes its inputs": (OVERWRITES, "torch", "crashed", "illegal"),
    "wrong": (KERNEL.replace("/ tl.sum(e, axis=0)", "/ tl.sum(e, axis=0) * 1.001"), "triton", "wrong", "the allowed"),
    "does not compile": (KERNEL.replace("tl.sum(e", "tl.summe(e"), "triton", "build_failed", "summe"),
}
READY = """\
import sys

import torch

MISSING = {"triton", "cuda.core"} - sys.modules.keys()


class ModelNew(torch.nn.Module):
    def forward(self, x):
        if MISSING:
            raise RuntimeError(f"a first launch would import {MISSING}")
        return torch.softmax(x, dim=1)
"""
LANGUAGES = {"triton": "kernwright.languages.triton:Triton", "torch": "kernwright.languages.torch:Torch"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def judge(home: Path) -> Iterator[Judge]:
    judge = Judge(home=str(home))
    yield judge
    judge.close()


def judged(judge: Judge, home: Path, text: str, language: str, problem: str = PROBLEM) -> Evaluation:
    (home / "problem.py").write_text(problem)
    job = EvalJob(
        problem=File().load(str(home / "problem.py")),
        candidate=Candidate(language=language, files=(SourceFile(name="candidate.py", text=text),)),
        target=target_of("cuda"),
        plan=PLAN,
        language=LANGUAGES[language],
        platform="kernwright.platforms.cuda:Cuda",
        home=str(home),
    )
    return judge.evaluate(job)


def assert_good(judge: Judge, home: Path) -> None:
    evaluation = judged(judge, home, KERNEL, "triton")
    timings = timings_of(evaluation.outcome)
    assert timings is not None, evaluation.outcome
    # Against eager alone: what torch.compile makes of it is as fast on some devices.
    assert timings.speedup_eager is not None
    assert timings.speedup_eager.low > 1.1
    assert timings.speedup_eager.high < 2.5
    assert evaluation.isolation == "namespaces"


@pytest.mark.parametrize("name", BAD)
def test_the_next_candidate_is_judged_as_if_nothing_had_happened(judge: Judge, home: Path, name: str) -> None:
    text, language, kind, said = BAD[name]
    evaluation = judged(judge, home, text, language)
    assert evaluation.outcome.kind == kind, evaluation.outcome
    assert said in getattr(evaluation.outcome, "reason", "")
    assert_good(judge, home)


def test_what_unusual_integers_show_is_asked_for_on_a_device_too(judge: Judge, home: Path) -> None:
    evaluation = judged(judge, home, SHORT_COUNTS, "torch", COUNTS)
    assert evaluation.outcome.kind == "wrong", evaluation.outcome
    # The cases that show it may all be among those that come among the timed calls.
    assert getattr(evaluation.outcome, "reason", "").startswith(("integers: ", "timed call, workload "))
    evaluation = judged(judge, home, SHORT_COUNTS.replace(" & 0xFFFF", ""), "torch", COUNTS)
    assert timings_of(evaluation.outcome) is not None, evaluation.outcome
    [asked] = [check for check in evaluation.checks if check.name == "integers"]
    assert asked.evidence["cases"] >= 10


def test_what_launches_kernels_is_imported_before_runners_are_forked(judge: Judge, home: Path) -> None:
    evaluation = judged(judge, home, READY, "torch")
    assert evaluation.outcome.kind == "measured", evaluation.outcome


def test_work_on_another_stream_is_counted(judge: Judge, home: Path) -> None:
    timings = timings_of(judged(judge, home, STREAM, "torch").outcome)
    assert timings is not None
    assert timings.speedup.high < 1.0


def test_what_was_measured_is_recorded(judge: Judge, home: Path) -> None:
    evaluation = judged(judge, home, KERNEL, "triton")
    assert evaluation.resources["registers"] > 0
    assert {"gpu", "driver", "SM clock before", "throttled after"} <= set(evaluation.environment)


GAINS = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        gains = torch.tensor([1.0, 1.5, 2.0, 2.5, 3.0], device=x.device)
        return x * gains[(x / x.norm(dim=1, keepdim=True)).mul(9).abs().long().clamp(max=4)]


def get_inputs():
    return [torch.randn(2048, 1024)]
"""


def test_inputs_for_which_the_problem_leaves_its_bounds_are_left_out(judge: Judge, home: Path) -> None:
    """Of rows of zeros this makes an index that is nowhere, which would end the judge's use of the device."""
    evaluation = judged(judge, home, GAINS.replace("class Model(", "class ModelNew("), "torch", GAINS)
    assert timings_of(evaluation.outcome) is not None, evaluation.outcome
    assert_good(judge, home)
    evaluation = judged(judge, home, "from torch.nn import Identity as ModelNew\n", "torch", GAINS)
    assert evaluation.outcome.kind == "wrong", evaluation.outcome
    with pytest.raises(UserError, match="index is asked for"):
        judged(judge, home, KERNEL, "triton", GAINS.replace(".clamp(max=4)", " + 7"))
    assert_good(judge, home)
