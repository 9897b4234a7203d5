"""compute-sanitizer reports what is planted, and what a candidate does beyond its memory."""

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile  # noqa: E402
from kernwright.core.jobs import EvalJob  # noqa: E402
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


@pytest.mark.parametrize(("less", "passed"), [("<", True), ("<=", False)])
def test_an_element_too_many_is_reported(tmp_path: Path, less: str, passed: bool) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM)
    text = KERNEL.replace("LESS", less)
    job = EvalJob(
        problem=File().load(str(tmp_path / "problem.py")),
        candidate=Candidate(language="cuda", files=(SourceFile(name="candidate.py", text=text),)),
        target=Cuda().targets()[0],
        plan=replace(FULL, baselines=("eager",), process_sets=2),
        language="kernwright.languages.cuda:Cuda",
        platform="kernwright.platforms.cuda:Cuda",
        home=str(tmp_path),
    )
    judge = Judge(str(tmp_path))
    try:
        evaluation = judge.evaluate(job)
    finally:
        judge.close()
    results = {check.name: check for check in evaluation.checks if check.name.startswith("sanitize")}
    assert [check.detail for check in results.values() if "not watched" in check.detail] == []
    assert results["sanitize: memcheck"].passed == passed
    assert evaluation.outcome.kind == ("verified" if passed else "wrong")
