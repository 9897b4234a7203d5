"""Triton candidates, as text."""

SOFTMAX = """
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + at, mask=at < cols, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * stride + at, e / tl.sum(e, 0), mask=at < cols)


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Linear(2, 2).cuda()

    def forward(self, x):
        assert x.is_cuda
        x = x.to("cuda", torch.float32)
        y = torch.empty(x.shape, device="cuda")
        block = triton.next_power_of_2(x.shape[1])
        with torch.cuda.device(x.device):
            softmax_kernel[(x.shape[0],)](x, y, x.stride(0), x.shape[1], block, num_warps=4)
        return y
"""

MATMUL = """
import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"BM": 32, "BN": 32, "BK": 32}, num_warps=4, num_stages=2),
    triton.Config({"BM": 16, "BN": 32, "BK": 32}, num_warps=2, num_stages=3),
    triton.Config({"BM": 256, "BN": 128, "BK": 64}, num_warps=8, num_stages=9),  # needs more shared memory than any has
]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, y)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def kernel(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), device=a.device)
    matmul_kernel[lambda meta: (triton.cdiv(M, meta["BM"]), triton.cdiv(N, meta["BN"]))](a, b, c, M, N, K)
    return c
"""

_META = (
    "{'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'XBLOCK': 'constexpr'}, "
    "'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, "
    "regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, warp_size=32), 'constants': {}, "
    "'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]]}]}"
)
GENERATED = f'''
import torch
from torch._C import _cuda_getCurrentRawStream as get_raw_stream
from torch._inductor.async_compile import AsyncCompile

empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
async_compile = AsyncCompile()
relu = async_compile.triton("relu", """
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.hints import DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.pointwise(
    size_hints={{'x': 1048576}}, filename=__file__, triton_meta={_META}, min_elem_per_thread=0,
    inductor_meta={{'grid_type': 'Grid1D', 'kernel_name': 'relu', 'mutated_arg_names': [], 'autotune_pointwise': True}},
)
@triton.jit
def relu(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    x0 = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    tl.store(out_ptr0 + x0, triton_helpers.maximum(tl.full([1], 0, tl.int32), tl.load(in_ptr0 + x0, None)), None)
""", device_str="cuda")
async_compile.wait(globals())


def kernel(x):
    with torch.cuda._DeviceGuard(0):
        torch.cuda.set_device(0)
        y = empty_strided_cuda((1024, 1024), (1024, 1), torch.float32)
        relu.run(x, y, 1048576, stream=get_raw_stream(0))
    return y
'''
