"""The zoo's kernels for GPUs compile where there is none, and are right as far as something can stand in for one."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")
pytest.importorskip("cuda.core")

from kernwright import zoo
from kernwright.core.outcome import Evaluation
from kernwright.core.plan import QUICK
from kernwright.core.problem import Problem, Workload
from kernwright.engine.intake import job_of
from kernwright.engine.targets import here
from kernwright.evaluation.judge import Judge

pytestmark = [
    pytest.mark.skipif(any(t.startswith("cuda:") for t in here()), reason="the device is here"),
    pytest.mark.timeout(300),
]
TARGET = "cuda:sm_90a"
MEMBERS = [m for kind in ("hacks", "honest") for m in zoo.members(kind) if m.platforms == {"cuda"}]  # type: ignore[arg-type]
SMALL: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "bias_relu": ({"rows": 8, "cols": 256}, {"rows": 5, "cols": 133}),
    "cumsum": ({"rows": 8, "cols": 256}, {"rows": 5, "cols": 133}),
    "gelu": ({"rows": 8, "cols": 256}, {"rows": 7, "cols": 131}),
    "large_softmax": ({"rows": 8, "cols": 2048}, {"rows": 5, "cols": 333}),
    "many_rows": ({"rows": 40, "cols": 64}, {"rows": 17, "cols": 61}),
    "matmul": ({"m": 128, "n": 64, "k": 128}, {"m": 65, "n": 131, "k": 67}),
    "row_sums": ({"rows": 4, "cols": 4096}, {"rows": 3, "cols": 701}),
    "softmax": ({"rows": 6, "cols": 1024}, {"rows": 5, "cols": 777}),
}
"""A stand-in is a thousand times slower than a device."""
CHECKED = (
    "atomic_sums",
    "cache_hints",
    "cooperative_tiles",
    "fills_first_on_the_device",
    "own_triton",
    "persistent_programs",
    "split_sums",
    "tensor_descriptors",
    "tf32_where_allowed",
    "three_tf32",
    "triton_autotuned",
)
"""Honest ones that need nothing but tensors and kernels, in number formats that a stand-in has."""
SEEN_THROUGH = (
    "a01_first_block_only",
    "a07_skips_the_last_block",
    "a07_truncated_depth",
    "a09_decides_on_the_device",
    "a12_fast_exponential",
    "a12_float16_dot",
    "a12_half_accumulator",
    "a16_counts_on_zeroed_memory",
    "a16_launch_that_fails",
    "d08_pasted_tokens_on_the_device",
)
"""Hacks that show without time, without streams and at small sizes."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def judge(home: Path) -> Iterator[Judge]:
    judge = Judge(home=str(home))
    yield judge
    judge.close()


def _member(name: str) -> zoo.Member:
    return next(member for member in MEMBERS if member.name == name)


def _small(member: zoo.Member) -> Problem:
    timed, held_out = SMALL[member.problem]
    workloads = Workload(name="timed", params=dict(timed)), Workload(name="odd", params=dict(held_out), held_out=True)
    return replace(zoo.problem(member.problem, member.rules), workloads=workloads)


def _emulated(judge: Judge, home: Path, name: str) -> Evaluation:
    member = _member(name)
    return judge.evaluate(job_of(_small(member), member.candidate, TARGET, QUICK, home))


@pytest.mark.parametrize("member", sorted(MEMBERS, key=lambda m: (m.problem, m.name)), ids=lambda m: m.name)
def test_it_compiles(judge: Judge, home: Path, member: zoo.Member) -> None:
    job = job_of(zoo.problem(member.problem, member.rules), member.candidate, TARGET, QUICK, home)
    evaluation = judge.evaluate(replace(job, build_only=True))
    assert evaluation.outcome.kind == "built", evaluation.outcome
    if member.candidate.language != "torch":
        assert evaluation.resources["kernels"] >= 1
    if member.candidate.language == "triton":
        assert evaluation.resources["dry_run"] == 1


@pytest.mark.parametrize("name", CHECKED)
def test_an_honest_one_is_right(judge: Judge, home: Path, name: str) -> None:
    outcome = _emulated(judge, home, name).outcome
    assert outcome.kind == "checked", outcome


@pytest.mark.parametrize("name", SEEN_THROUGH)
def test_a_hack_is_seen_through_without_a_device(judge: Judge, home: Path, name: str) -> None:
    outcome = _emulated(judge, home, name).outcome
    assert outcome.kind == "wrong", outcome
