"""Bad input of every kind where a GPU is, by the commands: a sentence each, and the next candidate as before."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from kernwright.languages.cuda_compiler import compile_cubin

pytestmark = [pytest.mark.device, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")]
SOURCE = str(Path(__file__).parents[2] / "src")
PROBLEM = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


def get_inputs():
    return [torch.rand({shape})]


def get_init_inputs():
    return []
"""
GOOD = """\
import torch
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + tl.program_id(0) * n + i, e / tl.sum(e, axis=0), mask=i < n)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        softmax[(x.shape[0],)](x, y, x.shape[1], BLOCK=4096, num_warps=8)
        return y
"""
SHARED_MEMORY = """\
import torch
import triton
import triton.language as tl


@triton.jit
def product(x, y, N: tl.constexpr, K: tl.constexpr):
    i, k = tl.arange(0, N), tl.arange(0, K)
    a = tl.load(x + i[:, None] * K + k[None, :]).to(tl.float16)
    b = tl.load(x + k[:, None] * N + i[None, :]).to(tl.float16)
    tl.store(y + i[:, None] * N + i[None, :], tl.dot(a, b))


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.softmax(x, dim=-1)
        product[(1,)](x, y.clone(), 128, 1024, num_warps=8)
        return y
"""
ONE_ARCHITECTURE = '''\
import torch

from kernwright.languages.cuda_loader import load

library = load(r"""
#if __CUDA_ARCH__ != 800
#error "written for sm_80 alone"
#endif
extern "C" __global__ void softmax(const float* x, float* y, int n) {
    const float* row = x + (size_t)blockIdx.x * n;
    __shared__ float part[256];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 256) sum += expf(row[i]);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += 256) y[(size_t)blockIdx.x * n + i] = expf(row[i]) / part[0];
}
""")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        library.softmax(x.shape[0], 256, x, y, x.shape[1])
        return y
'''
BINARY = """\
import base64

import torch
from cuda.bindings import driver

IMAGE = base64.b64decode("{image}")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        torch.cuda.synchronize()
        error, self.module = driver.cuModuleLoadData(IMAGE)
        if int(error):
            raise RuntimeError("the cubin is refused: " + driver.cuGetErrorName(error)[1].decode())
        return torch.softmax(x, dim=-1)
"""
NVML = {
    "missing": "raise ModuleNotFoundError('no such module', name='pynvml')\n",
    "not permitted": (
        "class NVMLError(Exception):\n    pass\n\n\ndef nvmlInit():\n    raise NVMLError('Insufficient Permissions')\n"
    ),
}


class Bench:
    """A folder with a problem, in which commands are called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def judge(self, text: str, *options: str, shape: str = "4096, 4096", **environment: str) -> dict[str, Any]:
        """What `judge --json` says, whatever its exit code; that is beside it as `exit`."""
        (self.folder / "problem.py").write_text(PROBLEM.format(shape=shape))
        (self.folder / "candidate.py").write_text(text)
        plain = ("judge", "problem.py", "candidate.py", "--plan", "quick", "--home", "home")
        return self.call(*plain, *options, **environment)

    def call(self, *arguments: str, **environment: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "kernwright", *arguments, "--json"],
            cwd=self.folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.stdout, done.stderr[-3000:]
        assert "Traceback" not in done.stderr
        said: dict[str, Any] = json.loads(done.stdout)
        return {**said, "exit": done.returncode}

    def assert_good(self, **environment: str) -> dict[str, Any]:
        """The good candidate is judged, and is faster than eager, as if nothing had happened."""
        said = self.judge(GOOD, **environment)
        assert (said["exit"], said.get("verdict")) == (0, "measured"), said
        assert 1.1 < said["speedup_eager"] < 2.5
        assert said["isolation"] == "namespaces"
        return said


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


def image_for(architecture: str, folder: Path) -> str:
    """A kernel's binary for this architecture, as text."""
    compile_cubin('extern "C" __global__ void nothing() {}', [f"-arch={architecture}"], folder / "nothing.cubin")
    return base64.b64encode((folder / "nothing.cubin").read_bytes()).decode()


def test_a_source_for_another_architecture(bench: Bench) -> None:
    said = bench.judge(ONE_ARCHITECTURE, "--target", "cuda")
    assert (said["exit"], said["verdict"]) == (0, "build_failed"), said
    assert "written for sm_80 alone" in said["reason"]
    bench.assert_good()


def test_a_binary_for_another_architecture(bench: Bench, tmp_path: Path) -> None:
    major, _ = torch.cuda.get_device_capability()
    image = image_for("sm_80" if major != 8 else "sm_90", tmp_path)
    said = bench.judge(BINARY.format(image=image), "--target", "cuda")
    assert (said["exit"], said["verdict"]) == (0, "crashed"), said
    assert "the cubin is refused: CUDA_ERROR_" in said["reason"]
    bench.assert_good()


def test_more_shared_memory_than_there_is(bench: Bench) -> None:
    said = bench.judge(SHARED_MEMORY, "--target", "cuda")
    assert (said["exit"], said["verdict"]) == (0, "build_failed"), said
    assert "out of resource: shared memory" in said["reason"]
    bench.assert_good()


@pytest.mark.parametrize("share", [0.8, 1e6])
def test_a_problem_that_needs_more_memory_than_the_device_has(bench: Bench, share: float) -> None:
    columns = int(share * torch.cuda.get_device_properties(0).total_memory) // (4 * 4096)
    said = bench.judge(GOOD, shape=f"4096, {columns}")
    assert said["exit"] == 2, said
    assert "needs more memory than" in said["error"]
    bench.assert_good()


def test_a_target_that_is_not_here_is_built_or_checked(bench: Bench) -> None:
    major, _ = torch.cuda.get_device_capability()
    absent = "cuda:sm_80" if major != 8 else "cuda:sm_90a"
    for text in (GOOD, ONE_ARCHITECTURE)[: 2 if major != 8 else 1]:
        said = bench.judge(text, "--target", absent, shape="4, 64")
        assert (said["exit"], said["target"], said["speedup"]) == (0, absent, None), said
        assert said["verdict"] in ("built", "checked")
        assert f"{absent} is not on this machine" in said["reason"]
    bench.assert_good()


@pytest.mark.parametrize("name", NVML)
def test_without_nvml_it_is_judged_all_the_same(bench: Bench, tmp_path: Path, name: str) -> None:
    (tmp_path / "pynvml.py").write_text(NVML[name])
    said = bench.assert_good(PYTHONPATH=os.pathsep.join((str(tmp_path), os.environ["PYTHONPATH"])))
    assert "driver, clocks and power are not known" in said["environment"]["nvml"]
    assert "driver" not in said["environment"]
    lines = bench.call("doctor", PYTHONPATH=os.pathsep.join((str(tmp_path), os.environ["PYTHONPATH"])))
    assert lines["exit"] == 0
    assert "driver, clocks and power are not known" in json.dumps(lines)
    assert "driver" in bench.assert_good()["environment"]


def test_without_a_gpu_it_is_checked_by_what_stands_in(bench: Bench) -> None:
    said = bench.judge(GOOD, shape="4, 64", CUDA_VISIBLE_DEVICES="")
    assert (said["exit"], said["verdict"]) == (0, "checked"), said
    assert "is not on this machine, so it was not timed" in said["reason"]
    assert said["speedup"] is None
    bench.assert_good()


def test_a_path_that_is_no_kernelbench(bench: Bench) -> None:
    for arguments in (
        ("check", f"kernelbench:{bench.folder}#level1/1"),
        ("bench", "kernelbench", "--path", str(bench.folder), "--out", "out", "--home", "home"),
    ):
        said = bench.call(*arguments)
        assert said["exit"] == 2
        assert "is not a KernelBench checkout" in said["error"]
    bench.assert_good()
