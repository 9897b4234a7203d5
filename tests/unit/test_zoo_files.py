"""The zoo's files are what they say: complete, readable without running them, and hacks where they claim to be."""

import ast
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kernwright import zoo
from kernwright.core.candidate import entry_of
from kernwright.core.errors import UserError
from kernwright.core.problem import Rules

HACKS, HONEST = zoo.members("hacks"), zoo.members("honest")
ON_GPUS = [member for member in HACKS if "cuda" in member.platforms]
REFUSALS = {"wrong", "rejected", "crashed", "timed_out", "suspicious", "build_failed"}
NO_KERNELS = {"A4", "C10"}
"""Rows of the threat model that have a test: degenerate problems, and how figures are joined."""
ROWS = {
    f"{family}{number}" for family, last in zip("ABCD", (18, 5, 10, 8), strict=True) for number in range(1, last + 1)
}
BY_LUCK = {
    "a01_empty_output",
    "a01_no_op",
    "a16_tail_unwritten",
    "a17_now_and_then",
    "c02_cpp_thread",
    "c02_python_thread",
    "d07_network",
}
"""Whether a naive judge believes these hangs on the allocator, on a coin, on the scheduler, or on a loopback device."""
CHOOSES_OTHERWISE = {"last_token_of_each_first", "last_of_equal_first", "middle_of_equal_first", "best_then_best_again"}
"""A naive judge does not believe these where numbers that they are drawn are equal: any of them may come first."""
HIDDEN_BY_SIZE = {
    "a10_angles_left_out",
    "a10_energy_alone",
    "a07_drops_small_features",
    "a07_leaves_small_powers_out",
    "a07_no_moments_of_small_features",
}
"""Small beside the size of the whole, which a naive judge, who compares one by one, does not ask for."""


def test_every_required_row_has_a_hack_and_there_are_enough_honest_kernels() -> None:
    assert {member.row for member in HACKS} == ROWS - NO_KERNELS
    assert len(HACKS) >= 70
    assert len(HONEST) >= 35
    assert {member.row for member in HONEST} == {"honest"}


def test_rows_that_have_a_meaning_on_gpus_have_a_hack_there() -> None:
    assert {member.row for member in ON_GPUS} == ROWS - NO_KERNELS
    assert sum(member.platforms == {"cuda"} for member in ON_GPUS) >= 25
    honest = [member for member in HONEST if "cuda" in member.platforms]
    assert sum(member.platforms == {"cuda"} for member in honest) >= 12


@pytest.mark.parametrize("member", HACKS + HONEST, ids=lambda m: m.name)
def test_member_is_complete(member: zoo.Member) -> None:
    assert member.summary.count("\n") == 0
    assert member.problem in zoo.problem_names()
    assert entry_of(member.candidate) in ("ModelNew", "kernel")
    assert member.candidate.main.text == member.path.read_text()
    assert member.platforms
    assert member.platforms <= {"cpu", "cuda"}
    assert (member.candidate.language == "cpp") <= (member.platforms == {"cpu"})
    assert (member.candidate.language in ("cuda", "triton")) <= (member.platforms == {"cuda"})
    if member.kind == "hacks":
        assert member.summary.startswith(f"{member.row}: ")
        assert member.name.startswith(f"{member.row[0].lower()}{int(member.row[1:]):02d}_")
        assert member.expect <= REFUSALS
        assert member.expect
    else:
        assert member.expect == {"measured", "verified"}
        assert not member.contained_ok


def test_problems_have_a_timed_and_a_held_out_workload() -> None:
    for name in zoo.problem_names():
        problem = zoo.problem(name, Rules(reuse_outputs=True))
        assert problem.rules.reuse_outputs
        assert len(problem.timed) >= 2
        assert any(workload.held_out for workload in problem.workloads)


def test_on_processors_problems_are_the_same_but_smaller() -> None:
    differ = 0
    for name in zoo.problem_names():
        small, large = zoo.problem(name, platform="cpu"), zoo.problem(name, platform="cuda")
        assert large == zoo.problem(name)
        assert small.source == large.source
        for here, there in zip(small.workloads, large.workloads, strict=True):
            assert here.params.keys() == there.params.keys()
            assert (here.name, here.weight, here.held_out) == (there.name, there.weight, there.held_out)
            assert all(here.params[key] <= there.params[key] for key in here.params), name
        assert zoo._literal(small.source, "ON_PROCESSORS").keys() <= {workload.name for workload in small.workloads}
        differ += small.workloads != large.workloads
    assert differ > 30


def test_degenerate_problems_say_what_is_wrong_with_them() -> None:
    flaws = {zoo.flaw(name) for name in zoo.problem_names(degenerate=True)}
    assert {"constant output", "zero weights", "output independent of an input", "tiny range"} <= flaws
    assert not any(zoo.flaw(name) for name in zoo.problem_names())


def test_unknown_problem_names_near_matches() -> None:
    with pytest.raises(UserError, match="softmax"):
        zoo.problem("sofmax")


def test_reading_the_zoo_runs_none_of_it() -> None:
    code = (
        "import sys; from kernwright import zoo; zoo.members('hacks'); zoo.members('honest'); zoo.problem('gelu');"
        "print('torch' in sys.modules, any(m.startswith('kernwright.zoo.') for m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_zoo_constants_are_literals() -> None:
    for member in HACKS + HONEST:
        assert isinstance(ast.parse(member.text).body[0], ast.Expr), member.name


@pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch")
@pytest.mark.parametrize("part", sorted({member.row[0] + str(int(member.row[1:]) // 6) for member in HACKS}))
def test_naive_judge_believes_the_hacks(tmp_path: Path, part: str) -> None:
    """Six rows at a time, since each of their kernels is called for a while."""
    hacks = [member for member in HACKS if member.row[0] + str(int(member.row[1:]) // 6) == part]
    tried = [m for m in hacks if not m.destructive and not m.needs_harness and "cpu" in m.platforms]
    assert tried
    believed = _naive_judge(tried, tmp_path)
    fooled = {name for name, verdict in believed.items() if verdict["correct"]}
    assert {member.name for member in tried} - fooled <= BY_LUCK | HIDDEN_BY_SIZE, believed


@pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch")
def test_naive_judge_believes_the_honest(tmp_path: Path) -> None:
    tried = [member for member in HONEST if member.name != "torch_compile" and "cpu" in member.platforms]
    believed = _naive_judge(tried, tmp_path)
    refused = {name for name, verdict in believed.items() if not verdict["correct"]}
    assert refused <= CHOOSES_OTHERWISE, believed


def _naive_judge(tried: list[zoo.Member], folder: Path) -> dict[str, dict[str, object]]:
    """What `naive_judge.py` says of each, in a scratch folder of its own."""
    for name in zoo.problem_names():
        (folder / f"{name}.py").write_text(zoo.problem(name).source)
    lines = []
    for member in tried:
        (folder / f"candidate_{member.name}.py").write_text(member.text)
        lines.append(f"{folder / member.problem}.py {folder / f'candidate_{member.name}'}.py")
    variables = {"TMPDIR": str(folder), "KERNWRIGHT_HOME": str(folder), "KERNEL_EXACT": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("naive_judge.py"))],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **variables},
        timeout=280,
    )
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(verdicts) == len(tried), done.stderr[-4000:]
    return {Path(v["candidate"]).stem.removeprefix("candidate_"): v for v in verdicts}
