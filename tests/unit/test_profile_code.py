"""Real compilers, disassemblers and counters: what is seen of good and bad kernels, with no GPU."""

import json
import mmap
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.diagnosis import Diagnosis
from kernwright.core.jobs import EvalJob
from kernwright.core.note import Note
from kernwright.core.outcome import Evaluation
from kernwright.core.plan import QUICK
from kernwright.core.problem import Problem, Workload
from kernwright.core.profile import Profile
from kernwright.engine.profiles import look_of
from kernwright.engine.shelves import gathered
from kernwright.evaluation.judge import Judge
from kernwright.knowledge.library import Library
from kernwright.knowledge.situations import Situation
from kernwright.platforms.cpu import Cpu
from kernwright.platforms.profilers import cpu_counters, tools
from kernwright.search.diagnosis import diagnose

pytestmark = pytest.mark.judged

GPU = "cuda:sm_90a"
SUMS = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return (x * 2).sum(dim=1)

def get_inputs():
    return [torch.randn(256, 1024)]
"""
CPP = """
import torch
from kernwright.languages.cpp_loader import load

lib = load(r'''
#include <cstdint>
extern "C" void run(const float* x, float* y, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (int64_t c = 0; c < columns; ++c) sum += 2 * x[r * columns + c];
    y[r] = sum;
  }
}
''', flags=FLAGS)


def kernel(x):
    y = torch.empty(x.shape[0])
    lib.run(x, y, x.shape[0], x.shape[1])
    return y
"""
TIRES = """

_plain, count = kernel, 0


def kernel(x):
    global count
    count += 1
    if count > 3:
        raise RuntimeError("no more")
    return _plain(x)
"""
MATMUL = """
import torch

class Model(torch.nn.Module):
    def forward(self, a, b):
        return a @ b

def get_inputs():
    return [torch.randn(1024, 1024), torch.randn(1024, 1024)]
"""
CUDA = """
import torch
from kernwright.languages.cuda_loader import load

lib = load(r'''
extern "C" __global__ void __launch_bounds__(128, 16) narrow(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.y, column = blockIdx.x * 128 + threadIdx.x;
  float sum[72];
  for (int i = 0; i < 72; ++i) sum[i] = 0;
  for (int k = 0; k < n; ++k)
    #pragma unroll
    for (int i = 0; i < 72; ++i) sum[i] += a[row * n + k] * b[k * n + (column + i) % n];
  float all = 0;
  for (int i = 0; i < 72; ++i) all += sum[i];
  c[row * n + column] = all;
}
extern "C" __global__ void wide(const float4* a, float4* c) { c[threadIdx.x] = a[threadIdx.x]; }
''')


def kernel(a, b):
    c = torch.empty_like(a)
    lib.narrow((8, 1024), 128, a, b, c, 1024)
    return c
"""


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    judge = Judge(home=str(tmp_path_factory.mktemp("home")))
    yield judge
    judge.close()


def looked(judge: Judge, home: Path, source: str, language: str, text: str, target: str) -> Evaluation:
    job = EvalJob(
        problem=Problem(name="seen", source=source, workloads=(Workload(name="default"),)),
        candidate=Candidate(language=language, files=(SourceFile(name="candidate.py", text=text),)),
        target=target,
        plan=QUICK,
        language=f"kernwright.languages.{language}:{language.capitalize()}",
        platform=f"kernwright.platforms.{target.partition(':')[0]}:{target.partition(':')[0].capitalize()}",
        home=str(home),
    )
    return judge.evaluate(look_of(job))


def seen(evaluation: Evaluation) -> Profile:
    assert evaluation.outcome.kind == "built", evaluation.outcome
    assert evaluation.profile is not None
    return evaluation.profile


@pytest.mark.skipif(not shutil.which("objdump"), reason="objdump is not installed")
def test_a_sum_in_order_is_told_from_one_on_vectors(judge: Judge, tmp_path: Path) -> None:
    """The compiler says that it vectorised both; the code of the first adds one float after the other."""
    target = Cpu().targets()[0]
    in_order = seen(looked(judge, tmp_path, SUMS, "cpp", CPP.replace("FLAGS", "[]"), target))
    fast = seen(looked(judge, tmp_path, SUMS, "cpp", CPP.replace("FLAGS", '["-ffast-math"]'), target))
    assert fast.counters["vector_share"] > in_order.counters["vector_share"]
    assert fast.counters["vector_share"] > 0.8
    assert fast.counters["vector_bits"] >= 128
    assert fast.counters["loops_vectorised"] >= 1
    assert in_order.counters["loops_missed"] >= 1
    assert "vectorisation" in _classes(in_order)
    assert "vectorisation" not in _classes(fast)
    for profile in (in_order, fast):
        assert {"machine code", "vectorisation report", "torch profiler"} <= set(profile.tools)
        assert profile.counters["time_ns"] > 0
        assert profile.counters["least_bytes"] == 256 * 1024 * 4 + 256 * 4
        assert any(kernel.name == "run" for kernel in profile.kernels)
        assert profile.counters.get("page_faults", 0.0) < 100  # memory is used again by then


def test_counters_that_this_machine_has_not_are_said_and_the_rest_is_counted() -> None:
    def work() -> None:
        with mmap.mmap(-1, 16 << 20) as memory:  # a judge has this process keep what it frees
            for page in range(0, 16 << 20, 1 << 12):
                memory[page] = 1

    found, refused = cpu_counters.counted([threading.get_native_id()], work)
    assert set(found) | set(refused) == set(cpu_counters.EVENTS)
    assert not set(found) & set(refused)
    assert found or all(refused.values())
    if "page_faults" in found:
        assert found["page_faults"] >= 1000
    if "instructions" in found:
        assert found["instructions"] > 1e4


def test_counters_of_a_process_of_somebody_else_are_not_permitted() -> None:
    _, refused = cpu_counters.counted([2**22 + 1], lambda: None)  # nobody's
    assert set(refused) == set(cpu_counters.EVENTS)


def test_a_candidate_without_code_of_its_own_is_said_to_have_none(judge: Judge, tmp_path: Path) -> None:
    text = "import torch\n\ndef kernel(x):\n    return torch.sum(x * 2, dim=1)\n"
    profile = seen(looked(judge, tmp_path, SUMS, "torch", text, Cpu().targets()[0]))
    assert any("no machine code of its own" in text for text in profile.missing)
    assert {"aten::sum", "aten::mul"} <= {kernel.name for kernel in profile.kernels}


def test_what_does_not_build_has_no_profile_and_says_why(judge: Judge, tmp_path: Path) -> None:
    text = CPP.replace("FLAGS", "[]").replace("float sum = 0;", "float sum = ")
    evaluation = looked(judge, tmp_path, SUMS, "cpp", text, Cpu().targets()[0])
    assert evaluation.outcome.kind == "build_failed"
    assert evaluation.profile is None


def test_one_that_raises_when_it_is_watched_keeps_what_was_read_off_its_code(judge: Judge, tmp_path: Path) -> None:
    text = CPP.replace("FLAGS", "[]") + TIRES
    profile = seen(looked(judge, tmp_path, SUMS, "cpp", text, Cpu().targets()[0]))
    assert any("no more" in text for text in profile.missing)
    assert "vector_share" in profile.counters


def _has(name: str) -> bool:
    try:
        tools.place_of(name)
    except tools.Silent:
        return False
    return True


needs_disassembler = pytest.mark.skipif(
    not (_has("nvdisasm") and _has("cuobjdump")), reason="nvdisasm and cuobjdump are not installed"
)


@needs_disassembler
def test_cuda_code_is_read_without_a_gpu(judge: Judge, tmp_path: Path) -> None:
    pytest.importorskip("cuda.core")
    profile = seen(looked(judge, tmp_path, MATMUL, "cuda", CUDA, GPU))
    kernels: Mapping[str, Mapping[str, float]] = {kernel.name: kernel.counters for kernel in profile.kernels}
    narrow, wide = kernels["narrow"], kernels["wide"]
    assert narrow["registers"] <= 32  # sixteen blocks of 128 threads were asked for
    assert narrow["spill_bytes"] > 0
    assert narrow["local_accesses"] > 0
    assert narrow["wide_share"] < 0.1
    assert narrow["threads"] == 128
    assert narrow["occupancy_limit"] == 1
    assert wide["wide_share"] == 1
    assert wide["spill_bytes"] == 0
    assert profile.counters["flops"] == 2 * 1024**3
    assert profile.counters["intensity"] == pytest.approx(2 * 1024**3 / (3 * 4 << 20))
    assert profile.counters["tensor_instructions"] == 0
    assert {"tensor-cores-idle", "spills"} <= set(_classes(profile))
    assert "time_ns" not in profile.counters  # nothing ran
    diagnosis = diagnose(profile)
    assert diagnosis is not None
    told, otherwise = _notes(diagnosis), _notes(None)
    assert diagnosis.bottlenecks[0] in told[0].bottlenecks
    assert "spills" in {note.bottlenecks[0] for note in told}
    assert "spills" not in {note.bottlenecks[0] for note in otherwise}


@needs_disassembler
def test_triton_code_shows_tensor_cores_wide_loads_and_occupancy(judge: Judge, tmp_path: Path) -> None:
    pytest.importorskip("triton")
    profile = seen(looked(judge, tmp_path, HALVES, "triton", TRITON, GPU))
    assert profile.counters["tensor_instructions"] > 0
    assert any(kind.startswith("tensor HGMMA") for kind in profile.opcodes)
    assert profile.counters["wide_share"] > 0.5
    assert 0 < profile.counters["occupancy_limit"] <= 1
    assert profile.counters["shared_bytes"] > 0
    assert "tensor-cores-idle" not in _classes(profile)


HALVES = MATMUL.replace("1024)", "1024, dtype=torch.float16)")
TRITON = """
import torch
import triton
import triton.language as tl


@triton.jit
def mm(a, b, c, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, N, BK):
        x = tl.load(a + rows[:, None] * N + (inner + k)[None, :])
        y = tl.load(b + (inner + k)[:, None] * N + columns[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16))


def kernel(a, b):
    c = torch.empty_like(a)
    mm[(8, 8)](a, b, c, 1024, BM=128, BN=128, BK=64, num_warps=8)
    return c
"""


def _notes(diagnosis: Diagnosis | None) -> Sequence[Note]:
    """Of those that come with Kernwright, for whoever improves a product in CUDA C++ of which this is said."""
    problem = Problem(name="seen", source=MATMUL, workloads=(Workload(name="default"),))
    asked = Situation(problem=problem, target=GPU, languages=("cuda",), language="cuda", diagnosis=diagnosis)
    return Library(gathered(None).notes).recall(asked.tags, asked.text, 5)


def _classes(profile: Profile) -> tuple[str, ...]:
    found = diagnose(profile)
    return found.bottlenecks if found else ()


@needs_disassembler
def test_the_command_compares_two_without_a_gpu(tmp_path: Path) -> None:
    pytest.importorskip("cuda.core")
    for name, text in (
        ("problem.py", MATMUL),
        ("narrow.py", CUDA),
        ("roomy.py", CUDA.replace("(128, 16)", "(128, 1)")),
    ):
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "kernwright", "profile", "problem.py", "roomy.py", "--against", "narrow.py"]
    done = subprocess.run(
        [*command, "--target", GPU, "--code", "--json", "--home", "home"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    changed = {each["name"]: each["relative"] for each in said["changes"]}
    assert changed["registers"] > 0.5
    assert changed["spill_bytes"] == -1
    assert "spills" not in said["diagnosis"]["bottlenecks"]
    assert said["profile"]["missing"] == []
    known = {note.name: note for note in gathered(None).notes}
    assert said["diagnosis"]["bottlenecks"][0] in known[said["notes"][0]["name"]].bottlenecks
