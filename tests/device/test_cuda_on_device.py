"""CUDA C++ on a GPU: what NVRTC made is launched, with the right arguments, on PyTorch's stream."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from kernwright.core.loading import import_file
from kernwright.languages.cuda_loader import load

pytestmark = [
    pytest.mark.device,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU that PyTorch can use"),
]
CANDIDATES = Path(__file__).parents[2] / "examples" / "candidates"
Staged = Callable[[Callable[[], Any]], Any]


@pytest.fixture
def staged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Staged:
    """Does something as in a build stage, and again as in a runner; returns what the runner got."""
    major, minor = torch.cuda.get_device_capability()
    monkeypatch.setenv("KERNWRIGHT_ARTIFACTS", str(tmp_path))
    monkeypatch.setenv("KERNWRIGHT_TARGET", f"cuda:sm_{major}{minor}{'a' if major >= 9 else ''}")
    monkeypatch.delenv("KERNWRIGHT_EMULATE", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def both(action: Callable[[], Any]) -> Any:
        monkeypatch.setenv("KERNWRIGHT_BUILDING", "1")
        action()
        monkeypatch.delenv("KERNWRIGHT_BUILDING")
        return action()

    return both


def test_examples(staged: Staged) -> None:
    softmax = staged(lambda: import_file(CANDIDATES / "softmax_cuda.py", "c")).ModelNew()
    for shape in ((5, 1003), (128, 32768), (2, 1)):
        x = torch.randn(shape, device="cuda") * 4
        torch.testing.assert_close(softmax(x), torch.softmax(x, -1), rtol=1e-5, atol=1e-6)
    linear = staged(lambda: import_file(CANDIDATES / "linear_relu_cuda.py", "c")).ModelNew(1024, 512).cuda()
    x = torch.randn(33, 1024, device="cuda")
    with torch.no_grad():
        torch.testing.assert_close(linear(x), torch.relu(linear.linear(x)), rtol=1e-4, atol=1e-4)


KINDS = """
extern "C" __global__ void kinds(double* y, const float* x, int64_t n, int m, float f, double d, bool b, short s) {
  y[0] = x ? 1 : -1, y[1] = n, y[2] = m, y[3] = f, y[4] = d, y[5] = b, y[6] = s;
}
extern "C" __global__ void shared_memory(float* y, int n) {
  extern __shared__ float s[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) y[0] = s[n - 1];
}
extern "C" __global__ void slow(float* y, long long cycles) {
  long long start = clock64();
  while (clock64() - start < cycles) {}
  y[0] += 1;
}
"""


def test_arguments_have_the_kernels_widths(staged: Staged) -> None:
    library = staged(lambda: load(KINDS))
    y = torch.zeros(7, dtype=torch.float64, device="cuda")
    library.kinds(1, 1, y, None, 1 << 40, -3, 2, 0.1, True, -7)
    assert y.tolist() == [-1, 2.0**40, -3, 2, 0.1, 1, -7]
    for wrong in ((y, None, 1, 1 << 40, 2, 0.1, True, 1), (y, torch.zeros(1), 1, 1, 1, 1, 1, 1), (y, None)):
        with pytest.raises(TypeError, match=r"^kinds"):
            library.kinds(1, 1, *wrong)
    with pytest.raises(AttributeError, match="no extern"):
        library.missing(1, 1, y)


def test_shared_memory_beyond_the_default(staged: Staged) -> None:
    library, y = staged(lambda: load(KINDS)), torch.zeros(1, device="cuda")
    for kib in (96, 64, 8, 96):
        library.shared_memory(1, 128, y, kib * 256, shared=kib << 10)
        assert y.item() == kib * 256 - 1
    with pytest.raises(RuntimeError, match="shared memory; this device has"):
        library.shared_memory(1, 128, y, 1, shared=1 << 20)


def test_launches_follow_pytorchs_stream(staged: Staged) -> None:
    library, y = staged(lambda: load(KINDS)), torch.zeros(1, device="cuda")
    library.slow(1, 1, y, 1000)  # opened before the streams matter
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        library.slow(1, 1, y, 200_000_000)
    assert torch.cuda.default_stream().query()
    assert not side.query()
    side.synchronize()
    assert y.item() == 2


def test_launches_can_be_captured(staged: Staged) -> None:
    library, y = staged(lambda: load(KINDS)), torch.zeros(1, device="cuda")
    library.slow(1, 1, y, 1)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        library.slow(1, 1, y, 1)
    graph.replay()
    torch.cuda.synchronize()
    assert y.item() == 2


def test_a_launch_costs_the_host_little(staged: Staged) -> None:
    library, y = staged(lambda: load(KINDS)), torch.zeros(1, device="cuda")
    took = []
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(200):
            library.slow(1, 1, y, 1)
        took.append((time.perf_counter() - start) / 200)
    print(f"host time of a launch: {min(took) * 1e6:.2f} microseconds")
    assert min(took) < 20e-6


INLINE = '''
import torch
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <torch/extension.h>
__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty_like(x);
  twice<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
"""
module = load_inline(name="doubling", cpp_sources="torch::Tensor run(torch::Tensor x);", cuda_sources=CUDA,
                     functions=["run"])


def kernel(x):
    return module.run(x)
'''
BUILD_INLINE = """
import os
import shutil
import subprocess
import sys
from pathlib import Path
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.languages.cuda import Cuda
folder = Path(sys.argv[1])
files = (SourceFile(name="main.py", text=(folder / "main.py").read_text()),)
print(Cuda().build(Candidate(language="cuda", files=files), sys.argv[2], folder, ()).artifacts)
"""
RUN_INLINE = """
import runpy, sys, time
import torch
start = time.time()
runpy.run_path(sys.argv[1] + "/artifacts/before.py")
kernel = runpy.run_path(sys.argv[1] + "/main.py")["kernel"]
x = torch.randn(1000, device="cuda")
print(torch.equal(kernel(x), 2 * x), time.time() - start < 20)
"""


def test_pytorchs_extensions_are_found_by_the_runner(tmp_path: Path) -> None:
    major, minor = torch.cuda.get_device_capability()
    target = f"cuda:sm_{major}{minor}{'a' if major >= 9 else ''}"
    for name in ("build", "run"):
        (tmp_path / name / "artifacts").mkdir(parents=True)
        (tmp_path / name / "main.py").write_text(INLINE)
    environment = os.environ | {"KERNWRIGHT_ARTIFACTS": str(tmp_path / "build" / "artifacts")}
    command = [sys.executable, "-c", BUILD_INLINE, str(tmp_path / "build"), target]
    hidden = environment | {"CUDA_VISIBLE_DEVICES": "", "KERNWRIGHT_BUILDING": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=hidden)
    assert "doubling.so" in done.stdout, done.stderr
    shutil.copytree(tmp_path / "build" / "artifacts", tmp_path / "run" / "artifacts", dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "build")
    command = [sys.executable, "-c", RUN_INLINE, str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment | {"PATH": "/nothing"})
    assert done.stdout == "True True\n", done.stderr
