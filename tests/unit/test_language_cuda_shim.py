"""The CPU shim runs CUDA C++ as a GPU would, and says so where it cannot."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from kernwright.core.loading import import_file
from kernwright.languages.cuda_loader import load

CANDIDATES = Path(__file__).parents[2] / "examples" / "candidates"
Loading = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loading:
    """Builds a source as the build stage does, and loads it as a runner does."""
    monkeypatch.setenv("KERNWRIGHT_ARTIFACTS", str(tmp_path))
    monkeypatch.setenv("KERNWRIGHT_TARGET", "cuda:sm_90a")
    monkeypatch.setenv("KERNWRIGHT_EMULATE", "1")
    monkeypatch.setattr(sys, "path", list(sys.path))

    def loaded(source: str | Path, **arguments: Any) -> Any:
        results = []
        for stage in ("build", "run"):
            monkeypatch.delenv("KERNWRIGHT_BUILDING", raising=False)
            if stage == "build":
                monkeypatch.setenv("KERNWRIGHT_BUILDING", "1")
            results.append(import_file(source, "c") if isinstance(source, Path) else load(source, **arguments))
        return results[-1]

    return loaded


def test_the_example_softmax(run: Loading) -> None:
    model = run(CANDIDATES / "softmax_cuda.py").ModelNew()
    for shape in ((5, 1003), (3, 2, 32), (2, 4097)):
        x = torch.randn(shape) * 4
        torch.testing.assert_close(model(x), torch.softmax(x, -1), rtol=1e-5, atol=1e-6)


def test_the_example_in_tiles(run: Loading) -> None:
    model = run(CANDIDATES / "linear_relu_cuda.py").ModelNew(70, 37)
    x = torch.randn(33, 70)
    with torch.no_grad():
        torch.testing.assert_close(model(x), torch.relu(model.linear(x)))


SUMS = """
__device__ float over_warp(float v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffff, v, step);
  return v;
}
extern "C" __global__ void by_warps(const float* x, float* y, int n) {
  __shared__ float part[32];
  float v = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) v += x[blockIdx.x * n + i];
  v = over_warp(v);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = over_warp(threadIdx.x < (blockDim.x + 31) / 32 ? part[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) y[blockIdx.x] = v;
  }
}
extern "C" __global__ void by_tree(const float* x, float* y, int n) {
  extern __shared__ __align__(16) float tree[];
  tree[threadIdx.x] = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) tree[threadIdx.x] += x[blockIdx.x * n + i];
  __syncthreads();
  for (int s = blockDim.x / 2; s; s /= 2) {
    if (threadIdx.x < s) tree[threadIdx.x] += tree[threadIdx.x + s];
    __syncthreads();
  }
  if (!threadIdx.x) y[blockIdx.x] = tree[0];
}
extern "C" __global__ void by_vectors(const float4* x, float* y, int n) {
  float v = 0;
  for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
    float4 f = __ldg(&x[blockIdx.x * (n / 4) + i]);
    v += f.x + f.y + f.z + f.w;
  }
  if (threadIdx.x == 0) y[blockIdx.x] = 0;
  __syncthreads();
  atomicAdd(&y[blockIdx.x], v);
}
"""


@pytest.mark.parametrize(("name", "shared"), [("by_warps", 0), ("by_tree", 256 * 4), ("by_vectors", 0)])
def test_reductions(run: Loading, name: str, shared: int) -> None:
    x, y = torch.randn(6, 1000), torch.empty(6)
    getattr(run(SUMS), name)(6, 256, x, y, 1000, shared=shared)
    torch.testing.assert_close(y, x.sum(1), rtol=1e-4, atol=1e-4)


ATOMICS = """
extern "C" __global__ void histogram(const int* x, int* counts, unsigned long long* total, int* extremes, int n) {
  __shared__ int local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&local[x[i] & 15], 1);
    atomicAdd(total, (unsigned long long)x[i]);
    atomicMin(&extremes[0], x[i]);
    atomicMax(&extremes[1], x[i]);
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}
extern "C" __global__ void locked(int* lock, int* count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *count += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
"""


def test_atomics(run: Loading) -> None:
    library = run(ATOMICS)
    x = torch.randint(0, 1000, (5000,), dtype=torch.int32)
    counts, total = torch.zeros(16, dtype=torch.int32), torch.zeros(1, dtype=torch.int64)
    extremes = torch.tensor([1 << 30, -(1 << 30)], dtype=torch.int32)
    library.histogram(20, 256, x, counts, total, extremes, 5000)
    assert torch.equal(counts, torch.bincount(x & 15, minlength=16).int())
    assert total.item() == x.sum().item()
    assert extremes.tolist() == [x.min().item(), x.max().item()]
    lock, count = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    library.locked(3, 64, lock, count)
    assert count.item() == 3 * 64


WARPS = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void operations(int* y) {
  int t = threadIdx.x;
  y[t] = __ballot_sync(0xffffffff, t % 3 == 0);
  y[32 + t] = __shfl_up_sync(0xffffffff, t, 3, 8);
  y[64 + t] = __shfl_sync(0xffffffff, t * t, 5, 16);
  y[96 + t] = __any_sync(0xffffffff, t == 40) + 2 * __all_sync(0xffffffff, t < 32);
  y[128 + t] = __match_any_sync(0xffffffff, t % 2);
  y[160 + t] = __reduce_max_sync(0xffffffff, -t) + __reduce_add_sync(0xffffffff, t);
  auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  y[192 + t] = tile.shfl(t, 2) + tile.any(t == 9) * 100;
  if (t < 16) y[224 + t] = __shfl_xor_sync(0x0000ffff, t, 1);
  else y[224 + t] = __shfl_xor_sync(0xffff0000, t, 2);
  y[256 + t] = __syncthreads_count(t < 7);
}
"""


def test_warp_operations(run: Loading) -> None:
    y = torch.zeros(9 * 32, dtype=torch.int32)
    run(WARPS).operations(1, 32, y)
    rows = y.view(9, 32).tolist()
    lanes = range(32)
    assert all(row & 0xFFFFFFFF == sum(1 << t for t in lanes if t % 3 == 0) for row in rows[0])
    assert rows[1] == [t - 3 if t % 8 >= 3 else t for t in lanes]
    assert rows[2] == [(t // 16 * 16 + 5) ** 2 for t in lanes]
    assert rows[3] == [2] * 32
    assert [r & 0xFFFFFFFF for r in rows[4]] == [0x55555555 << t % 2 for t in lanes]
    assert rows[5] == [0 + 31 * 16] * 32
    assert rows[6] == [t // 4 * 4 + 2 + 100 * (t // 4 == 2) for t in lanes]
    assert rows[7] == [t ^ 1 if t < 16 else t ^ 2 for t in lanes]
    assert rows[8] == [7] * 32


NARROW = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void both(const float* x, __half* h, __nv_bfloat16* b, float* back, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  h[i] = __float2half(x[i]);
  b[i] = __float2bfloat16(x[i]);
  back[i] = __half2float(h[i] * h[i]) + __bfloat162float(b[i]);
}
"""


def test_narrow_types_round_as_pytorch_does(run: Loading) -> None:
    special = [1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-8, 1 + 3 * 2**-8]  # halfway between two
    special += [0.0, -0.0, 65504.0, 65519.9, 65520.0, 1e-8, 6e-8, 3e-5, -1e-7, float("inf"), -float("inf"), 3e38]
    x = torch.cat([torch.tensor(special), torch.randn(5000) * torch.logspace(-9, 6, 5000)])
    h, b, back = torch.empty(len(x)).half(), torch.empty(len(x)).bfloat16(), torch.empty(len(x))
    run(NARROW).both((len(x) + 127) // 128, 128, x, h, b, back, len(x))
    assert torch.equal(h, x.half())
    assert torch.equal(b, x.bfloat16())
    assert torch.equal(back.nan_to_num(), ((x.half() * x.half()).float() + x.bfloat16().float()).nan_to_num())


WAITING = """
extern "C" __global__ void early(float* y, int n) {
  __shared__ float s[64];
  if (threadIdx.x >= n) return;
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = s[n - 1 - threadIdx.x];
}
extern "C" __global__ void divergent(float* y) {
  if (threadIdx.x < 8) __shfl_sync(0xffffffff, 1, 0);
  else __syncthreads();
}
extern "C" __global__ void forever(int* flag) {
  while (atomicCAS(flag, 1, 1) == 0) {}
}
extern "C" __global__ void outside(int* y) { y[0] = __shfl_sync(0x2, 1, 1); }
"""


def test_threads_that_return_early_are_not_waited_for(run: Loading) -> None:
    y = torch.zeros(64)
    run(WAITING).early(1, 64, y, 40)
    assert y.tolist() == [*range(39, -1, -1), *[0.0] * 24]


def test_what_would_hang_is_an_error(run: Loading) -> None:
    library = run(WAITING)
    with pytest.raises(RuntimeError, match="56 of a block stand at __syncthreads, 8 at a warp operation"):
        library.divergent(1, 64, torch.zeros(64))
    with pytest.raises(RuntimeError, match="would wait forever"):
        library.forever(1, 32, torch.zeros(1, dtype=torch.int32))
    with pytest.raises(RuntimeError, match="mask leaves it out"):
        library.outside(1, 32, torch.zeros(1, dtype=torch.int32))
    y = torch.zeros(64)
    library.early(1, 64, y, 2)  # it still works afterwards
    assert y[:2].tolist() == [1.0, 0.0]


def test_shared_memory_is_not_zero_and_has_an_end(run: Loading) -> None:
    library = run(
        'extern __shared__ float s[];\nextern "C" __global__ void k(float* y) { y[threadIdx.x] = s[threadIdx.x]; }\n'
    )
    y = torch.zeros(4)
    library.k(1, 4, y, shared=16)
    assert y.isnan().all()
    library.k(1, 4, y, shared=200 << 10)
    with pytest.raises(RuntimeError, match="shared memory; a block gets 232448"):
        library.k(1, 4, y, shared=228 << 10)


def test_arguments_and_shapes_are_checked(run: Loading) -> None:
    source = 'extern "C" __global__ void k(float* y, int n, float scale) { y[0] = n * scale; }\n'
    library = run(source + 'extern "C" __global__ void two(float* y, double d, bool b) { y[0] = b ? d : 0; }\n')
    y = torch.zeros(1)
    library.k(1, 1, y, 3, 2)  # an int for a float is a float
    assert y.item() == 6
    library.two((1, 1), (1, 1, 1), y, 2.5, True)
    assert y.item() == 2.5
    for arguments in ((y, 3), (y, 3.0, 2.0), (y, 1 << 33, 2.0), (3.0, 3, 2.0), (y, y, 2.0)):
        with pytest.raises(TypeError, match=r"^k"):
            library.k(1, 1, *arguments)
    with pytest.raises(RuntimeError, match="no GPU takes"):
        library.k(1, 1025, y, 3, 2.0)
    with pytest.raises(RuntimeError, match="no GPU takes"):
        library.k(0, 32, y, 3, 2.0)
    with pytest.raises(AttributeError, match="no extern"):
        library.missing(1, 1, y)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('asm volatile("membar.gl;");', "PTX instructions"),
        ("nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> f;", "tensor core"),
        ("cooperative_groups::this_grid().sync();", "between blocks"),
        ("y[0] = __vabsdiffu4(1u, 2u);", "this source: kernel.cu:4:8: error: "),
    ],
)
def test_what_it_cannot_run_is_said_in_the_build(run: Loading, body: str, reason: str) -> None:
    headers = "#include <mma.h>\n" if "wmma" in body else "#include <cooperative_groups.h>\n"
    source = f'{headers}/* asm */\nextern "C" __global__ void k(float* y) {{\n{body}\n}}\n'
    with pytest.raises(RuntimeError, match="the CPU shim cannot run") as raised:
        run(source)
    assert reason in str(raised.value)
