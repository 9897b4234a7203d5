"""Candidates for a device that is not here: built, and checked where something can stand in for it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from kernwright.engine.targets import here

pytestmark = pytest.mark.skipif(any(t.startswith("cuda:") for t in here()), reason="the device is here")
PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2


def get_inputs():
    return [torch.randn(8, 64)]


def get_init_inputs():
    return []
"""
TRITON = """\
import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.maximum(tl.load(x + i, i < n), 0.0) * 2.0, i < n)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        double[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
        return y
"""
CUDA = '''\
import torch

from kernwright.languages.cuda_loader import load

library = load(r"""
extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f) * 2.0f;
}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        library.twice((x.numel() + 127) // 128, 128, x, y, x.numel())
        return y
'''


def judged(folder: Path, text: str, *options: str, problem: str = PROBLEM) -> dict[str, Any]:
    (folder / "problem.py").write_text(problem)
    (folder / "candidate.py").write_text(text)
    command = [sys.executable, "-m", "kernwright", "judge", "problem.py", "candidate.py", "--plan", "quick", "--json"]
    done = subprocess.run(
        [*command, "--home", "home", *options], cwd=folder, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    verdict: dict[str, Any] = json.loads(done.stdout)
    return verdict


def test_triton_is_checked_by_its_interpreter(tmp_path: Path) -> None:
    verdict = judged(tmp_path, TRITON)
    assert (verdict["verdict"], verdict["target"]) == ("checked", "cuda:sm_90a")
    assert "interpreter" in verdict["where"]
    assert verdict["where"] in verdict["reason"]
    assert verdict["speedup"] is None
    assert verdict["resources"]["registers"] > 0


def test_what_is_wrong_there_is_wrong(tmp_path: Path) -> None:
    verdict = judged(tmp_path, TRITON.replace("* 2.0", "* 2.1"), "--target", "cuda:sm_80")
    assert verdict["verdict"] == "wrong"


def test_what_cannot_be_emulated_is_built(tmp_path: Path) -> None:
    verdict = judged(tmp_path, TRITON, "--target", "rocm:gfx942")
    assert verdict["verdict"] == "built"
    assert "rocm:gfx942 is not on this machine" in verdict["reason"]


def test_what_ended_the_dry_run_is_among_the_notes(tmp_path: Path) -> None:
    text = TRITON.replace("        double[", "        assert x.max().item() > 0\n        double[")
    for _ in range(2):  # the second build is found kept
        said = judged(tmp_path, text)
        assert (said["verdict"], said["resources"]["dry_run"], said["resources"]["kernels"]) == ("checked", 0, 0)
        (note,) = [note for note in said["notes"] if note.startswith("build: ")]
        assert "candidate.py, line 15, which needs what a tensor holds" in note


def test_cuda_is_checked_by_the_shim(tmp_path: Path) -> None:
    pytest.importorskip("cuda.core")
    verdict = judged(tmp_path, CUDA)
    assert (verdict["verdict"], verdict["target"]) == ("checked", "cuda:sm_90a")
    assert "shim" in verdict["reason"]


def test_what_the_shim_cannot_run_is_built(tmp_path: Path) -> None:
    pytest.importorskip("cuda.core")
    text = CUDA.replace("int i =", 'asm volatile("membar.gl;");\n    int i =')
    verdict = judged(tmp_path, text)
    assert verdict["verdict"] == "built"
    assert "the CPU shim cannot run" in verdict["reason"]


def test_a_problem_that_is_too_large_for_this_machine_ends_in_built(tmp_path: Path) -> None:
    verdict = judged(
        tmp_path,
        TRITON,
        "--target",
        "cuda:sm_90a",
        problem=PROBLEM.replace("torch.randn(8, 64)", "torch.randn(1 << 37)"),
    )
    assert verdict["verdict"] == "built"
    assert "needs more memory than there is" in verdict["reason"]


HALF = """\
import torch

RULES = {"precision": "PRECISION"}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.full((64,), 2.0))

    def forward(self, x):
        return torch.relu(x) * self.scale


def get_inputs():
    return [torch.randn(8, 64)]
"""
CAST = """\
import torch
import triton
import triton.language as tl


@triton.jit
def scaled(x, scale, y, n, cols, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.maximum(tl.load(x + i, i < n), 0.0) * tl.load(scale + i % cols, i < n), i < n)


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.full((64,), 2.0))

    def forward(self, x):
        assert x.dtype is self.scale.dtype is torch.PRECISION
        y = torch.empty_like(x)
        scaled[(triton.cdiv(x.numel(), 128),)](x, self.scale, y, x.numel(), x.shape[1], BLOCK=128)
        return y
"""


@pytest.mark.parametrize(("precision", "verdict"), [("float16", "checked"), ("bfloat16", "built")])
def test_the_precision_rule_holds_for_the_build_and_for_the_stand_in(
    precision: str, verdict: str, tmp_path: Path
) -> None:
    text, problem = (text.replace("PRECISION", precision) for text in (CAST, HALF))
    said = judged(tmp_path, text, problem=problem)
    assert (said["verdict"], said["resources"]["dry_run"]) == (verdict, 1), said["reason"]
    assert verdict == "checked" or "not in bfloat16" in said["reason"]
