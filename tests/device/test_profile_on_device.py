"""What profilers see on a real GPU: known flaws show in their own counters, and those in the diagnosis.

Tests of Nsight Compute's counters are skipped, with what it said, where it is not installed or not permitted.
`pytest -s` prints every profile.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Evaluation
from kernwright.core.plan import QUICK
from kernwright.core.problem import Problem, Workload
from kernwright.core.profile import Profile
from kernwright.evaluation.judge import Judge
from kernwright.search.diagnosis import diagnose

pytestmark = [pytest.mark.device, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")]
NCU = "Nsight Compute"
NCU_S = 15.0
STAGES = ("start under counters", "load under counters", "counters")
ADD = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x + 1.0) * 2.0

def get_inputs():
    return [torch.randn(4096, 8192)]
"""
MATMUL = """
import torch

class Model(torch.nn.Module):
    def forward(self, a, b):
        return a @ b

def get_inputs():
    return [torch.randn(4096, 4096, dtype=torch.float16), torch.randn(4096, 4096, dtype=torch.float16)]
"""
EAGER = "import torch\n\n\ndef kernel(x):\n    return torch.relu(x + 1.0) * 2.0\n"
LIBRARY = "import torch\n\n\ndef kernel(a, b):\n    return torch.mm(a, b)\n"
TRITON = """
import torch
import triton
import triton.language as tl


@triton.jit
def scaled(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.maximum(tl.load(x + i, mask=i < n) + 1.0, 0.0) * 2.0, mask=i < n)


def kernel(x):
    y = torch.empty_like(x)
    scaled[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024, num_warps=4)
    return y
"""
CUDA = """
import torch
from kernwright.languages.cuda_loader import load

lib = load(r'''
__device__ float scaled(float x) { return fmaxf(x + 1.0f, 0.0f) * 2.0f; }

extern "C" __global__ void strided(const float* x, float* y, long long n) {
  long long rows = n / 32, i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  long long at = (i % rows) * 32 + i / rows;  // neighbours are 128 bytes apart
  if (i < n) y[at] = scaled(x[at]);
}

extern "C" __global__ void conflicting(const float* x, float* y, long long n) {
  __shared__ volatile float tile[32 * 32];
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  int place = (threadIdx.x % 32) * 32 + threadIdx.x / 32;  // a warp's threads share one bank
  for (int k = 0; k < 16; ++k) {
    tile[place] = i < n ? x[i] : 0.0f;
    __syncthreads();
  }
  if (i < n) y[i] = scaled(tile[place]);
}
''')


def kernel(x):
    y = torch.empty_like(x)
    n = x.numel()
    lib.NAME((n + 1023) // 1024, 1024, x, y, n)
    return y
"""


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    judge = Judge(home=str(tmp_path_factory.mktemp("home")))
    yield judge
    judge.close()


def evaluated(judge: Judge, home: Path, source: str, language: str, text: str) -> Evaluation:
    from kernwright.platforms.cuda import Cuda

    job = EvalJob(
        problem=Problem(name="seen", source=source, workloads=(Workload(name="default"),)),
        candidate=Candidate(language=language, files=(SourceFile(name="candidate.py", text=text),)),
        target=Cuda().targets()[0],
        plan=QUICK,
        language=f"kernwright.languages.{language}:{language.capitalize()}",
        platform="kernwright.platforms.cuda:Cuda",
        home=str(home),
        look="run",
        profiler="kernwright.platforms.profilers.cuda:Cuda",
    )
    evaluation = judge.evaluate(job)
    print("\n", language, evaluation.outcome, evaluation.stage_s, "\n", evaluation.profile)
    return evaluation


def looked(judge: Judge, home: Path, source: str, language: str, text: str) -> Profile:
    evaluation = evaluated(judge, home, source, language, text)
    assert evaluation.outcome.kind == "built", evaluation.outcome
    assert evaluation.profile is not None
    return evaluation.profile


def counted(profile: Profile) -> Profile:
    """The profile, where Nsight Compute counted; else the test is skipped, with what it said."""
    if NCU not in profile.tools:
        pytest.skip("; ".join(profile.missing) or "nothing was said of Nsight Compute")
    return profile


def classes(profile: Profile) -> tuple[str, ...]:
    found = diagnose(profile)
    print(found.text if found else "no diagnosis")
    return found.bottlenecks if found else ()


def test_without_any_permission(judge: Judge, tmp_path: Path) -> None:
    """Machine code, launches, roofs and host time need none."""
    profile = looked(judge, tmp_path, ADD, "triton", TRITON)
    figures = profile.counters
    assert {"machine code", "torch profiler"} <= set(profile.tools)
    assert figures["launches"] == 1
    assert figures["blocks"] == 4096 * 8192 / 1024
    assert figures["threads"] == 128
    assert figures["least_bytes"] == 2 * 4096 * 8192 * 4
    assert 0.3 < figures["memory_roof"] < 1.0
    assert 0 < figures["occupancy_limit"] <= 1
    assert figures["host_ns"] > 0
    assert figures["registers"] > 0
    assert "dram" in classes(profile)
    assert [text for text in profile.missing if not text.startswith(NCU)] == []


def test_several_kernels_and_the_gaps_between_them(judge: Judge, tmp_path: Path) -> None:
    profile = looked(judge, tmp_path, ADD, "torch", EAGER)
    assert profile.counters["launches"] == 3
    assert profile.counters["gap_ns"] >= 0
    assert sum(kernel.counters.get("launches", 0) for kernel in profile.kernels) >= 3


def test_dram_throughput_of_a_kernel_that_moves_memory(judge: Judge, tmp_path: Path) -> None:
    figures = counted(looked(judge, tmp_path, ADD, "triton", TRITON)).counters
    assert figures["dram_busy"] > 0.6
    assert figures["dram_bytes"] == pytest.approx(figures["least_bytes"], rel=0.15)
    assert figures["core_busy"] < 0.6
    assert figures["loads_used"] > 0.95
    assert 0 < figures["occupancy"] <= 1


def test_uncoalesced_access(judge: Judge, tmp_path: Path) -> None:
    profile = counted(looked(judge, tmp_path, ADD, "cuda", CUDA.replace("NAME", "strided")))
    assert profile.counters["loads_used"] < 0.3
    assert "uncoalesced" in classes(profile)


def test_bank_conflicts(judge: Judge, tmp_path: Path) -> None:
    profile = counted(looked(judge, tmp_path, ADD, "cuda", CUDA.replace("NAME", "conflicting")))
    figures = profile.counters
    assert figures["bank_conflicts"] / figures["shared_wavefronts"] > 0.5
    assert "bank-conflicts" in classes(profile)


def test_tensor_cores(judge: Judge, tmp_path: Path) -> None:
    profile = counted(looked(judge, tmp_path, MATMUL, "torch", LIBRARY))
    assert profile.counters["tensor_busy"] > 0.3
    assert profile.counters["compute_roof"] > 0.3
    assert "tensor-cores-idle" not in classes(profile)


def test_counters_of_one_kernel_take_no_longer_than_they_may(judge: Judge, tmp_path: Path) -> None:
    evaluation = evaluated(judge, tmp_path, ADD, "triton", TRITON)
    assert evaluation.profile is not None
    counted(evaluation.profile)
    taken = sum(evaluation.stage_s.get(stage, 0.0) for stage in STAGES)
    print(f"Nsight Compute: {taken:.1f} s")
    assert taken <= NCU_S


def test_a_candidate_that_ends_itself_leaves_the_device_to_the_next(judge: Judge, tmp_path: Path) -> None:
    watched = "import os\nWATCHED = os.path.exists('channel')\n"
    text = watched + EAGER.replace("    return", "    if WATCHED:\n        os._exit(7)\n    return")
    profile = looked(judge, tmp_path, ADD, "torch", text)
    assert profile.counters["launches"] == 3
    assert NCU not in profile.tools
    assert looked(judge, tmp_path, ADD, "torch", EAGER).counters["launches"] == 3
