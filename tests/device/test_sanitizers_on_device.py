"""compute-sanitizer reports what is planted, and what a candidate does beyond its memory."""

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile  # noqa: E402
from kernwright.core.jobs import EvalJob  # noqa: E402
from kernwright.core.outcome import CheckResult, Evaluation  # noqa: E402
from kernwright.core.plan import FULL  # noqa: E402
from kernwright.evaluation.judge import Judge  # noqa: E402
from kernwright.languages.compute_sanitizer import compute_sanitizer  # noqa: E402
from kernwright.platforms.cuda import Cuda  # noqa: E402
from kernwright.problems.file import File  # noqa: E402

pytestmark = [
    pytest.mark.device,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"),
    pytest.mark.skipif(bool(compute_sanitizer()[0].missing), reason="no compute-sanitizer"),
]
PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1


def get_inputs():
    return [torch.randn(1000)]
"""
KERNEL = '''\
import torch

from kernwright.languages.cuda_loader import load

lib = load(r"""
extern "C" __global__ void add_one(const float* x, float* out, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i LESS n) out[i] = x[i] + 1;
}
""")


def kernel(x):
    out = torch.empty_like(x)
    lib.add_one((x.numel() + 255) // 256, 256, x.contiguous(), out, x.numel())
    return out
'''


LIBRARY_PROBLEM = """\
import torch

RULES = {"precision": "float16"}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.make = torch.nn.Linear(256, 4096, bias=False)

    def forward(self, x):
        return self.make(x).relu() + 1


def get_inputs():
    return [torch.randn(64, 256)]
"""
LIBRARY = '''\
import torch
from torch import nn

from kernwright.languages.cuda_loader import load

lib = load(r"""
#include <cuda_fp16.h>
extern "C" __global__ void relu_one(const __half* x, __half* out, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] = __float2half(fmaxf(__half2float(x[i]), 0.f) + 1.f);
}
""")


class ModelNew(nn.Module):
    """A product of the library's, and a kernel that reads it."""

    def __init__(self):
        super().__init__()
        self.make = nn.Linear(256, 4096, bias=False)

    def forward(self, x):
        product = self.make(x)
        out = torch.empty_like(product)
        lib.relu_one((product.numel() + 255) // 256, 256, product, out, product.numel())
        return out
'''
UNSET = '''\
import torch

from kernwright.languages.cuda_loader import load

lib = load(r"""
extern "C" __global__ void add_one(const float* x, const float* unset, float* out, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] = x[i] + 1 + unset[(1 << 24) + i];
}
""")


def kernel(x):
    """Right where fresh memory is zero."""
    out, unset = torch.empty_like(x), torch.empty(1 << 25, device=x.device)
    lib.add_one((x.numel() + 255) // 256, 256, x.contiguous(), unset, out, x.numel())
    return out
'''
COUNTED = '''\
import torch

from kernwright.languages.cuda_loader import load

lib = load(r"""
extern "C" __global__ void add_one(const float* x, float* out, int n) {
    __shared__ float held[256];
    __shared__ unsigned done;
    int i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x == 0) done = 0;
    __syncthreads();
    held[threadIdx.x] = i < n ? x[i] + 1 : 0;
    __threadfence_block();
    if (atomicAdd(&done, 1u) == 255) {
        __threadfence_block();
        for (int k = 0, to = blockIdx.x * 256; k < 256 && to + k < n; ++k) out[to + k] = ((volatile float*)held)[k];
    }
}
""")


def kernel(x):
    """Whoever comes last writes for all."""
    out = torch.empty_like(x)
    lib.add_one((x.numel() + 255) // 256, 256, x.contiguous(), out, x.numel())
    return out
'''


def judged(folder: Path, problem: str, text: str) -> Evaluation:
    (folder / "problem.py").write_text(problem)
    job = EvalJob(
        problem=File().load(str(folder / "problem.py")),
        candidate=Candidate(language="cuda", files=(SourceFile(name="candidate.py", text=text),)),
        target=Cuda().targets()[0],
        plan=replace(FULL, baselines=("eager",), process_sets=2),
        language="kernwright.languages.cuda:Cuda",
        platform="kernwright.platforms.cuda:Cuda",
        home=str(folder),
    )
    judge = Judge(str(folder))
    try:
        return judge.evaluate(job)
    finally:
        judge.close()


def said(evaluation: Evaluation) -> dict[str, CheckResult]:
    return {check.name: check for check in evaluation.checks if check.name.startswith("sanitize")}


@pytest.mark.parametrize(("less", "passed"), [("<", True), ("<=", False)])
def test_an_element_too_many_is_reported(tmp_path: Path, less: str, passed: bool) -> None:
    evaluation = judged(tmp_path, PROBLEM, KERNEL.replace("LESS", less))
    results = said(evaluation)
    assert [check.detail for check in results.values() if "not watched" in check.detail] == []
    assert results["sanitize: memcheck"].passed == passed
    assert evaluation.outcome.kind == ("verified" if passed else "wrong")


@pytest.mark.parametrize(
    ("problem", "text", "tool"), [(LIBRARY_PROBLEM, LIBRARY, "initcheck"), (PROBLEM, COUNTED, "racecheck")]
)
def test_what_a_tool_does_not_follow_refuses_nobody(tmp_path: Path, problem: str, text: str, tool: str) -> None:
    evaluation = judged(tmp_path, problem, text)
    assert evaluation.outcome.kind == "verified", evaluation.outcome
    detail = said(evaluation)[f"sanitize: {tool}"].detail
    # A newer tool may follow it.
    assert detail == "nothing reported" or (f"{tool} reports" in detail and detail in evaluation.notes)


def test_what_was_never_written_is_reported_though_it_is_zero(tmp_path: Path) -> None:
    evaluation = judged(tmp_path, PROBLEM, UNSET)
    assert evaluation.outcome.kind == "wrong"
    assert "initcheck reports Uninitialized" in getattr(evaluation.outcome, "reason", "")
